// What ESLint looks for, beyond its recommended rules. The form of the text is prettier's.

import js from "@eslint/js";
import globals from "globals";

// Modules that touch no page, clock or server, so that node tests them: they know no browser, and import their like.
const PURE = [
  "ansi",
  "axis",
  "beyond",
  "cards",
  "catalogue",
  "charts",
  "curves",
  "edits",
  "fields",
  "format",
  "groups",
  "layout",
  "marks",
  "overlap",
  "options",
  "plotting",
  "readout",
  "speed",
  "terms",
  "texts",
  "limits",
  "ticks",
  "traces",
];
const pureFiles = PURE.map((name) => `**/static/*/${name}.js`);

export default [
  js.configs.recommended,
  {
    linterOptions: { reportUnusedDisableDirectives: "error" },
    rules: {
      curly: ["error", "multi-line"],
      eqeqeq: "error",
      "max-len": ["error", { code: 120 }],
      "no-eval": "error",
      "no-implied-eval": "error",
      "no-restricted-properties": [
        "error",
        { property: "innerHTML", message: "What a run printed must never be parsed as markup: use dom.js." },
        { property: "outerHTML", message: "What a run printed must never be parsed as markup: use dom.js." },
      ],
      "no-shadow": "error",
      "no-throw-literal": "error",
      "no-var": "error",
      "prefer-const": "error",
    },
  },
  { files: ["**/static/**/*.js"], ignores: pureFiles, languageOptions: { globals: globals.browser } },
  {
    files: pureFiles,
    rules: {
      "no-restricted-imports": [
        "error",
        { patterns: [{ regex: `^\\.(?!.*/(${PURE.join("|")})\\.js$)`, message: "A pure module imports pure ones." }] },
      ],
    },
  },
  // plotly.js stands before it in a report.
  { files: ["**/report.js"], languageOptions: { globals: { ...globals.browser, Plotly: "readonly" } } },
  { files: ["tests/js/**/*.js", "*.js"], languageOptions: { globals: globals.nodeBuiltin } },
];
