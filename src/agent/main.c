#include "myriad/agent.h"

int main(int argc, char **argv)
{
    return myr_agent_main(argc, argv);
}
