#!/usr/bin/env python3
"""check_layers.py finds what it should: each rule is broken once in a scratch tree."""
import os
import subprocess
import sys
import tempfile
import unittest

CHECK = os.path.join(os.path.dirname(os.path.abspath(__file__)), "check_layers.py")


class CheckLayersTest(unittest.TestCase):
    def run_on(self, files):
        with tempfile.TemporaryDirectory() as root:
            for path, text in files.items():
                os.makedirs(os.path.join(root, os.path.dirname(path)), exist_ok=True)
                with open(os.path.join(root, path), "w", encoding="utf-8") as out:
                    out.write(text)
            done = subprocess.run([sys.executable, CHECK, root], capture_output=True, text=True,
                                  check=False)
            return done.returncode, done.stdout

    def assert_refused(self, path, include, also=None):
        code, out = self.run_on({path: f"#include {include}\n", **(also or {})})
        self.assertEqual(code, 1, out)
        self.assertIn(f"{path}:1:", out)

    def test_what_is_allowed_passes(self):
        code, out = self.run_on({
            "nccl_hook/a.cc": '#include "common/abi/layout.h"\n#include <atomic>\n',
            "analyzer/engine/a.cc": '#include "analyzer/detect/hang.h"\n',
            "analyzer/ingest/a.cc": '#include "c4/v1/telemetry.pb.h"\n#include "common/clock.h"\n',
            "agent/app/a.cc": '#include "agent/rings/reader.h"\n',
            "tests/unit/a.cc": '#include "nccl_hook/a.h"\n',
        })
        self.assertEqual((code, out), (0, ""))

    def test_hook_needs_only_the_layout_and_libc(self):
        self.assert_refused("nccl_hook/a.cc", '"common/clock.h"')
        self.assert_refused("nccl_hook/a.cc", '"absl/status/status.h"')
        self.assert_refused("nccl_hook/a.cc", "<string>")

    def test_layout_is_freestanding(self):
        self.assert_refused("common/abi/a.h", "<string>")
        self.assert_refused("common/abi/a.h", '"common/clock.h"')

    def test_stages_do_not_know_each_other(self):
        self.assert_refused("analyzer/detect/a.cc", '"analyzer/localise/wait_graph.h"')
        self.assert_refused("analyzer/verdict/a.cc", '"analyzer/engine/engine.h"')
        self.assert_refused("analyzer/engine/a.cc", '"analyzer/api/server.h"')
        self.assert_refused("analyzer/detect/a.cc", '"c4/v1/verdict.pb.h"')

    def test_agent_and_analyzer_do_not_know_each_other(self):
        self.assert_refused("agent/app/a.cc", '"analyzer/model/trace.h"')
        self.assert_refused("analyzer/ingest/a.cc", '"agent/rings/reader.h"')
        self.assert_refused("common/a.cc", '"agent/limits.h"')

    def test_stand_ins_know_nothing_of_c4(self):
        self.assert_refused("tests/nccl_cpu/a.cc", '"common/abi/layout.h"')

    def test_includes_are_paths_from_the_root(self):
        self.assert_refused("agent/rings/a.cc", '"b.h"', {"agent/rings/b.h": ""})

    def test_an_empty_tree_is_an_error(self):
        self.assertEqual(self.run_on({})[0], 2)


if __name__ == "__main__":
    unittest.main()
