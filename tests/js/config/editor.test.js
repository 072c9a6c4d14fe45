import assert from "node:assert/strict";
import { test } from "node:test";

import { formatted } from "../../../dsgui/ui/static/config/editor.js";

test("a config of one line gets a line for every key, and every value keeps its spelling", () => {
  const packed = '{"a": 5e8,"b":{"c":1e-5,"l":[0.9,1],"d":{},"e":[]},"s":"x, {\\"y\\": [1]}","l":[{"n":2}, 1]}';
  const whole = `{
  "a": 5e8,
  "b": {
    "c": 1e-5,
    "l": [0.9, 1],
    "d": {},
    "e": []
  },
  "s": "x, {\\"y\\": [1]}",
  "l": [
    {
      "n": 2
    },
    1
  ]
}
`;
  assert.equal(formatted(packed), whole);
  assert.equal(formatted(whole), whole);
  assert.deepEqual(JSON.parse(formatted(packed)), JSON.parse(packed));
});
