# Written by bootstrap from the files that it found: do not edit, run ./bootstrap.
AC_DEFUN([WEIR_DRIVERS], [
WEIR_DRIVER([checkpoint], [checkpoint_simulator.x restart_simulator.x])
WEIR_DRIVER([checkpoint-parts], [combo.x gatherv.x raw_bw.x])
WEIR_DRIVER([h5exerciser], [h5exerciser hdf5Exerciser])
WEIR_DRIVER([ior], [ior])
WEIR_DRIVER([md-workbench], [md-workbench])
WEIR_DRIVER([mdtest], [mdtest])
WEIR_DRIVER([mib], [mib])
])
