/*
 * Replaces lctl, squeue, systemd-run and other programs of a server on a machine without them: under each of these names it
 * passes its arguments to the emulator (`sluice emulate --socket`) and prints the output of the emulated node's program.
 * Request and answer are described in electron/emulate/wire.ts.
 *
 * Environment: SLUICE_STANDIN_SOCKET, the emulator's Unix socket; SLUICE_STANDIN_NODE, the node that this machine represents;
 * SLUICE_STANDIN_USER, the user who runs it there (default: root).
 *
 * Neither sudo nor a systemd timer passes an environment on: built with STANDIN_SOCKET, STANDIN_NODE and STANDIN_LOGIN it needs
 * none; there root is root and everyone else is STANDIN_LOGIN.
 */
#include <errno.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#ifndef STANDIN_SOCKET
#define STANDIN_SOCKET NULL
#define STANDIN_NODE NULL
#define STANDIN_LOGIN "root"
#endif

/* Exit code of a shell for a program that cannot be run. */
#define CANNOT_RUN 126

static const char *self = "standin";

static void die(const char *what)
{
	fprintf(stderr, "%s: stand-in: %s: %s\n", self, what, errno ? strerror(errno) : "cut off");
	exit(CANNOT_RUN);
}

static void put(unsigned char *at, size_t n)
{
	for (int i = 0; i < 4; i++)
		at[i] = (unsigned char)(n >> 8 * i);
}

static uint32_t get(const unsigned char *at)
{
	return at[0] | (uint32_t)at[1] << 8 | (uint32_t)at[2] << 16 | (uint32_t)at[3] << 24;
}

static void write_all(int fd, const void *bytes, size_t left)
{
	for (const char *at = bytes; left > 0;) {
		ssize_t n = write(fd, at, left);

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			die("write");
		at += n;
		left -= (size_t)n;
	}
}

static void read_all(int fd, void *bytes, size_t left)
{
	for (char *at = bytes; left > 0;) {
		ssize_t n = read(fd, at, left);

		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0) {
			if (n == 0)
				errno = 0;
			die("the emulator's answer");
		}
		at += n;
		left -= (size_t)n;
	}
}

/* Copies `left` bytes of the answer to an own output stream; a reader that has gone away is not a failure. */
static void pass_on(int from, int to, size_t left)
{
	static char part[65536];

	while (left > 0) {
		size_t n = left < sizeof(part) ? left : sizeof(part);

		read_all(from, part, n);
		write_all(to, part, n);
		left -= n;
	}
}

static void send_request(int fd, const char **words, size_t count)
{
	size_t length = 4;
	unsigned char *request, *at;

	for (size_t i = 0; i < count; i++)
		length += 4 + strlen(words[i]);
	at = request = malloc(4 + length);
	if (!request)
		die("memory");
	put(at, length);
	put(at + 4, count);
	at += 8;
	for (size_t i = 0; i < count; i++) {
		size_t n = strlen(words[i]);

		put(at, n);
		memcpy(at + 4, words[i], n);
		at += 4 + n;
	}
	write_all(fd, request, 4 + length);
	free(request);
}

int main(int argc, char **argv)
{
	const char *path = getenv("SLUICE_STANDIN_SOCKET");
	const char *node = getenv("SLUICE_STANDIN_NODE");
	const char *user = getenv("SLUICE_STANDIN_USER");
	const char *slash = argc > 0 ? strrchr(argv[0], '/') : NULL;
	struct sockaddr_un to = { .sun_family = AF_UNIX };
	unsigned char head[12];
	const char **words;
	int fd;

	if (argc < 1)
		return CANNOT_RUN;
	self = slash ? slash + 1 : argv[0];
	if (!path)
		path = STANDIN_SOCKET;
	if (!node)
		node = STANDIN_NODE;
	if (!user)
		user = geteuid() == 0 ? "root" : STANDIN_LOGIN;
	if (!path || !node || strlen(path) >= sizeof(to.sun_path)) {
		errno = EINVAL;
		die("SLUICE_STANDIN_SOCKET and SLUICE_STANDIN_NODE");
	}
	strcpy(to.sun_path, path);
	words = calloc((size_t)argc + 3, sizeof(*words));
	if (!words)
		die("memory");
	words[0] = "run";
	words[1] = node;
	words[2] = user;
	words[3] = self;
	for (int i = 1; i < argc; i++)
		words[3 + i] = argv[i];
	fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
	if (fd < 0 || connect(fd, (struct sockaddr *)&to, sizeof(to)) != 0)
		die("the emulator's socket");
	send_request(fd, words, (size_t)argc + 3);
	free(words);
	read_all(fd, head, sizeof(head));
	pass_on(fd, STDOUT_FILENO, get(head + 4));
	pass_on(fd, STDERR_FILENO, get(head + 8));
	return (int)(get(head) & 0xff);
}
