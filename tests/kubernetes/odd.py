"""Pods that are not the usual ones, and pods that go while they are bound, on a real API server."""
import json
import subprocess
import time

from lab import Refused, Scheduler, bound, check_gang, say, wait


def anew(lab, job, size, old):
    """The gang's nodes, once it is bound whole without those pods."""
    def whole():
        live = lab.live(job)
        fresh = len(live) == size and not old & {pod["metadata"]["uid"] for pod in live}
        return live if fresh and all(pod["spec"].get("nodeName") for pod in live) else None
    return check_gang(wait(f"{job} bound anew", whole), size)


def odd_pods(lab, myriad, nodes):
    """Init containers, names with dots, priority classes, pods that are deleted in the middle."""
    scheduler = Scheduler(lab, myriad)
    scheduler.line("holds the lease")

    def before(cpu):
        return [{"name": "i", "image": "x", "resources": {"requests": {"cpu": cpu}}}]
    # The larger of what init containers and the others ask for; a node has 64 cores.
    lab.job("odd.name.v2", 4, initContainers=before("64"), restartPolicy="OnFailure")
    bound(lab, "odd.name.v2", 4)
    lab.job("odd.name.v3", 2, initContainers=before("65"))
    scheduler.line(r"waits default/odd\.name\.v3/.* short of cpu")
    for name in ("odd.name.v2", "odd.name.v3"):
        lab.delete_job(name)

    # Who has the better class goes first, whoever came first.
    for name, value in (("low", 10), ("high", 1000)):
        lab.post("/apis/scheduling.k8s.io/v1/priorityclasses", {
            "metadata": {"name": name}, "value": value})
    lab.job("filler", nodes)
    bound(lab, "filler", nodes)
    lab.job("patient", nodes, priorityClassName="low")
    scheduler.line("waits default/patient/")
    lab.job("urgent", nodes, priorityClassName="high")
    scheduler.line("waits default/urgent/")
    lab.delete_job("filler")
    bound(lab, "urgent", nodes)
    assert not [pod for pod in lab.pods("patient") if pod["spec"].get("nodeName")]
    lab.delete_job("urgent")
    bound(lab, "patient", nodes)
    lab.delete_job("patient")

    # One pod goes at any moment between its making and its binding: the gang is whole in the end.
    for number in range(6):
        name, delay_s = f"torn-{number}", number * 0.06
        lab.job(name, 8)
        time.sleep(delay_s)
        pods = wait(f"a pod of {name}", lambda: lab.live(name))
        victim = pods[number % len(pods)]["metadata"]["name"]
        try:
            lab.ask("DELETE", f"/api/v1/namespaces/default/pods/{victim}",
                    {"gracePeriodSeconds": 0})
        except Refused as refused:
            assert refused.status == 404, refused  # the gang is made anew already
        places = anew(lab, name, 8, {pods[number % len(pods)]["metadata"]["uid"]})
        assert len(set(places)) == 8, places
        lab.delete_job(name)  # its pods from before hold their nodes until here: no kubelet answers
    report = scheduler.end()
    say(f"odd pods: {report['gangs_bound']} gangs bound, {report['gangs_remade']} made anew")


def strict(lab, myriad, nodes):
    """restart: strict waits until pods from before are gone; epoch does not."""
    scheduler = Scheduler(lab, myriad, "--lost-after", "1")
    names = {}
    for how in ("strict", "epoch"):
        job = lab.top / f"{how}.yaml"
        job.write_text(f"name: {how}\nnodes: 2\ncommand: 'true'\nimage: lab/train:1\n"
                       f"restart: {how}\nprogress: {{pattern: 'step ([0-9]+)'}}\n")
        made = subprocess.run([myriad, "submit", job, "--kubeconfig", lab.admin, "-o", "json"],
                              capture_output=True, text=True, check=True)
        answer = json.loads(made.stdout)
        assert answer["unheeded"] == ["progress"], answer
        names[how] = answer["kubernetes"][0]["name"]
    places = {how: bound(lab, name, 2) for how, name in names.items()}
    old = {how: {pod["metadata"]["uid"]: pod["metadata"]["name"] for pod in lab.pods(name)}
           for how, name in names.items()}
    for how in names:
        lab.set_ready(places[how][0], "False")
    again = anew(lab, names["epoch"], 2, set(old["epoch"]))
    assert places["epoch"][0] not in again, again
    line = scheduler.line(f"waits default/{names['strict']}/.*restart is strict: . pods")
    time.sleep(2)
    assert not [pod for pod in lab.live(names["strict"]) if pod["spec"].get("nodeName")]
    for name in old["strict"].values():  # as if the kubelet had answered
        lab.ask("DELETE", f"/api/v1/namespaces/default/pods/{name}", {"gracePeriodSeconds": 0})
    again = anew(lab, names["strict"], 2, set(old["strict"]))
    assert places["strict"][0] not in again, again
    for how in names:
        lab.set_ready(places[how][0], "True")
        lab.delete_job(names[how])
    scheduler.end()
    say(f"strict: {line[0].split(': ', 1)[1][:120]}; epoch bound at once")
