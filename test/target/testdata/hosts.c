// Names of hosts that are looked up by each function of libc that does so, and an address without a name: hosts.
#define _GNU_SOURCE
#include <netdb.h>
#include <stddef.h>
#include <sys/socket.h>

int main(void)
{
	struct addrinfo *found;
	struct hostent host, *result;
	char buffer[4096];
	int error;

	if (getaddrinfo("127.0.0.1", NULL, NULL, &found) == 0)
		freeaddrinfo(found);
	if (getaddrinfo(NULL, "80", NULL, &found) == 0)
		freeaddrinfo(found);
	// These call the functions below for themselves where the name is no address.
	gethostbyname("localhost");
	gethostbyname2("localhost", AF_INET);
	gethostbyname_r("127.0.0.3", &host, buffer, sizeof(buffer), &result, &error);
	gethostbyname2_r("127.0.0.4", AF_INET, &host, buffer, sizeof(buffer), &result, &error);
	return 0;
}
