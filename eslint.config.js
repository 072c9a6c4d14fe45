// What ESLint looks for, beyond its recommended rules; the form of the text is prettier's.

import js from "@eslint/js";
import globals from "globals";

export default [
  { ignores: [".venv/**", ".overlays/**", "runs/**", "test-artifacts/**"] },
  { linterOptions: { reportUnusedDisableDirectives: "error" } },
  js.configs.recommended,
  {
    rules: {
      curly: ["error", "multi-line"],
      eqeqeq: "error",
      "max-len": ["error", { code: 120, ignoreUrls: true }],
      "no-eval": "error",
      "no-implied-eval": "error",
      "no-implicit-globals": "error",
      "no-restricted-properties": [
        "error",
        { property: "innerHTML", message: "What a run printed must never be parsed as markup: use dom.js." },
      ],
      "no-shadow": "error",
      "no-throw-literal": "error",
      "no-var": "error",
      "prefer-const": "error",
    },
  },
  { files: ["dsgui/**/*.js"], languageOptions: { globals: globals.browser } },
  // Written into a report as it is, so a classic script; plotly.js stands before it.
  {
    files: ["**/report.js"],
    languageOptions: { sourceType: "script", globals: { ...globals.browser, Plotly: "readonly" } },
  },
  { files: ["tests/js/**/*.js", "*.js"], languageOptions: { globals: globals.nodeBuiltin } },
];
