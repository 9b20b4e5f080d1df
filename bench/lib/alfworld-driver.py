"""Plays games in the original ALFWorld engine. One JSON object a line in, one out; see alfworld-differential.test.ts.

in   {"game": "FILE", "actions": ["look", ...]}
out  {"states": [{"text": str, "admissible": [str], "won": bool, "reward": int}, ...], "seconds": float}    first the reset
"""
import functools
import json
import sys
import time

import fast_downward
import textworld
from alfworld.agents.environment.alfred_tw_env import AlfredDemangler
from textworld.envs import PddlEnv

translate = functools.lru_cache(maxsize=1)(fast_downward.pddl2sas)


def translate_once(domain, problem, verbose=False, optimize=False):
    """The engine translates a game four times: for load and reset, each also for its planner, which is not used here."""
    return translate(domain, problem, verbose=verbose)


fast_downward.pddl2sas = translate_once


def play(game, actions):
    infos = textworld.EnvInfos(won=True, admissible_commands=True)
    env = AlfredDemangler(PddlEnv(infos))
    env.load(game)
    state = env.reset()
    states = [shown(state, 0)]
    started = time.perf_counter()
    for action in actions:
        state, reward, _ = env.step(action)
        states.append(shown(state, reward))
    return {"states": states, "seconds": time.perf_counter() - started}


def shown(state, reward):
    return {
        "text": state["feedback"],
        "admissible": state["admissible_commands"],
        "won": bool(state["won"]),
        "reward": reward,
    }


def main():
    # The planner prints to stdout; answers go out on a copy of it.
    answers = sys.stdout
    sys.stdout = sys.stderr
    for line in sys.stdin:
        request = json.loads(line)
        try:
            answer = play(request["game"], request["actions"])
        except Exception as error:  # the test shows it
            answer = {"error": f"{type(error).__name__}: {error}"}
        answers.write(json.dumps(answer) + "\n")
        answers.flush()


main()
