/* SPDX-License-Identifier: BSD-3-Clause */
/* peak.c - run a program and print the most memory it had, in KiB; its own output is thrown away */
#include <fcntl.h>
#include <stdio.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

int main(int argc, char **argv)
{
    struct rusage used;
    int status;
    pid_t child;

    if (argc < 2) {
        fprintf(stderr, "usage: peak PROGRAM [ARGUMENT...]\n");
        return 2;
    }
    child = fork();
    if (child == 0) {
        int null = open("/dev/null", O_WRONLY);

        if (null >= 0 && dup2(null, STDOUT_FILENO) >= 0)
            execv(argv[1], argv + 1);
        perror(argv[1]);
        _exit(127);
    }
    if (child < 0 || wait4(child, &status, 0, &used) < 0) {
        perror("peak");
        return 2;
    }
    printf("%ld\n", used.ru_maxrss);
    return WIFEXITED(status) ? WEXITSTATUS(status) : 1;
}
