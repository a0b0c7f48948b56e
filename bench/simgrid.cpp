// The same flows in SimGrid, over the same paths: bench/simgrid.py writes what is read here.
//
//     simgrid INPUT OUTPUT
//
// INPUT: "links N", then "bytes_per_s latency_s" for each; "hosts N"; "routes N", then "from to
// count link..." for each; "flows N", then "from to bytes start_s count before..." for each.
// OUTPUT: a line with the end of each flow, in seconds. Prints the CPU seconds of the simulation
// itself, without reading and building.
#include <simgrid/kernel/Timer.hpp>
#include <simgrid/s4u.hpp>

#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <fstream>
#include <string>
#include <vector>

namespace sg = simgrid::s4u;

static double cpu_seconds()
{
    timespec now;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
    return static_cast<double>(now.tv_sec) + static_cast<double>(now.tv_nsec) / 1e9;
}

struct Flow {
    size_t from, to;
    double bytes, start;
    std::vector<size_t> after;
};

static void expect(std::ifstream &in, const char *word, size_t *count)
{
    std::string got;
    if (!(in >> got >> *count) || got != word) {
        std::fprintf(stderr, "simgrid: '%s' is expected\n", word);
        std::exit(1);
    }
}

int main(int argc, char **argv)
{
    sg::Engine engine(&argc, argv);
    // One fluid: no start-up, no window, no factors. Rates are compared in bytes per second, and
    // simulated times in seconds.
    sg::Engine::set_config("network/model:CM02");
    sg::Engine::set_config("network/TCP-gamma:0");
    sg::Engine::set_config("network/bandwidth-factor:1");
    sg::Engine::set_config("network/latency-factor:1");
    sg::Engine::set_config("network/weight-S:0");
    sg::Engine::set_config("network/crosstraffic:0");
    sg::Engine::set_config("maxmin/precision:1e-5");
    sg::Engine::set_config("surf/precision:1e-12");
    if (argc < 3) {
        std::fprintf(stderr, "usage: simgrid INPUT OUTPUT\n");
        return 1;
    }
    std::ifstream in(argv[1]);
    size_t count = 0;
    sg::NetZone *zone = sg::create_full_zone("all");
    expect(in, "links", &count);
    std::vector<sg::Link *> links(count);
    for (size_t i = 0; i < count; i++) {
        double rate = 0, latency = 0;
        in >> rate >> latency;
        links[i] = zone->create_link("l" + std::to_string(i), rate)->set_latency(latency)->seal();
    }
    expect(in, "hosts", &count);
    std::vector<sg::Host *> hosts(count);
    for (size_t i = 0; i < count; i++) {
        hosts[i] = zone->create_host("h" + std::to_string(i), 1e9)->seal();
    }
    expect(in, "routes", &count);
    for (size_t i = 0; i < count; i++) {
        size_t from = 0, to = 0, length = 0;
        in >> from >> to >> length;
        std::vector<sg::LinkInRoute> path;
        for (size_t k = 0; k < length; k++) {
            size_t link = 0;
            in >> link;
            path.emplace_back(links[link]);
        }
        zone->add_route(hosts[from]->get_netpoint(), hosts[to]->get_netpoint(), nullptr, nullptr,
                        path, false);
    }
    zone->seal();
    expect(in, "flows", &count);
    std::vector<Flow> flows(count);
    for (auto &flow : flows) {
        size_t length = 0;
        in >> flow.from >> flow.to >> flow.bytes >> flow.start >> length;
        flow.after.resize(length);
        for (auto &before : flow.after) {
            in >> before;
        }
    }
    std::vector<sg::CommPtr> comms(count);
    std::vector<double> ends(count, -1);
    std::vector<std::vector<size_t>> next(count);
    std::vector<size_t> waits(count);
    for (size_t i = 0; i < count; i++) {
        comms[i] = sg::Comm::sendto_init(hosts[flows[i].from], hosts[flows[i].to]);
        comms[i]->set_payload_size(static_cast<uint64_t>(flows[i].bytes));
        comms[i]->set_name(std::to_string(i));
    }
    for (size_t i = 0; i < count; i++) {
        for (size_t before : flows[i].after) {
            comms[before]->add_successor(comms[i]);
        }
    }
    sg::Activity::on_completion_cb([&ends](const sg::Activity &activity) {
        ends[std::stoul(activity.get_name())] = sg::Engine::get_clock();
    });
    for (size_t i = 0; i < count; i++) {
        if (flows[i].start > 0) {
            sg::CommPtr comm = comms[i];
            simgrid::kernel::timer::Timer::set(flows[i].start,
                                               [comm]() { comm->vetoable_start(); });
        } else {
            comms[i]->vetoable_start();
        }
    }
    double before = cpu_seconds();
    engine.run();
    std::printf("%.6f\n", cpu_seconds() - before);
    std::ofstream out(argv[2]);
    out.precision(15);
    for (double end : ends) {
        out << end << "\n";
    }
    return out ? 0 : 1;
}
