// How Vite builds the explorer.

/** Vite's configuration, for `source` (a folder) into `target` (an absolute path). */
export function explorerConfig({ source, target }) {
  return {
    configFile: false,
    root: source,
    // Relative: the page is ./graphiql, what it loads is below ./graphiql/, and both may be below another path.
    base: './',
    logLevel: 'error',
    // See the file: GraphiQL's tabs without what they don't need.
    resolve: { alias: { 'framer-motion': `${process.cwd()}/${source}/reorder.tsx` } },
    plugins: [withoutUnneededFeatures(), withOtherTexts(), fetchedAtOnce()],
    worker: { format: 'es' },
    build: {
      outDir: target,
      emptyOutDir: true,
      assetsDir: 'graphiql',
      target: 'es2023',
      chunkSizeWarningLimit: 10_000,
    },
  };
}

/** Monaco's features that an editor of GraphQL and JSON never uses: a tenth of its script. */
const unneededFeatures = `
  browser/widget/diffEditor/ contrib/anchorSelect/ contrib/codeAction/ contrib/codelens/ contrib/colorPicker/ contrib/dnd/
  contrib/dropOrPasteInto/ contrib/documentSymbols/ contrib/inlineCompletions/ contrib/inlineProgress/ contrib/gotoSymbol/
  contrib/inlayHints/ contrib/inPlaceReplace/ contrib/linkedEditing/ contrib/inlineEdit/ contrib/inlineEdits/
  contrib/parameterHints/ contrib/rename/ contrib/sectionHeaders/ contrib/semanticTokens/ contrib/stickyScroll/
  contrib/suggest/browser/suggestInlineCompletions contrib/unicodeHighlighter/ contrib/unusualLineTerminators/
  contrib/diffEditorBreadcrumbs/ contrib/gotoError/ contrib/fontZoom/ contrib/links/ contrib/wordPartOperations/
  contrib/placeholderText/ standalone/browser/inspectTokens/ standalone/browser/referenceSearch/
  standalone/browser/toggleHighContrast/ standalone/browser/quickAccess/standaloneGotoSymbolQuickAccess
`
  .trim()
  .split(/\s+/);

/** Leaves these imports out of Monaco's two lists of features; one that isn't there any more stops the build. */
function withoutUnneededFeatures() {
  const missing = new Set(unneededFeatures);
  return {
    name: 'without-unneeded-features',
    transform(code, id) {
      if (!/monaco-editor\/esm\/vs\/editor\/(?:editor\.all|edcore\.main)\.js$/.test(id)) return undefined;
      const lines = code.split('\n').filter((line) => {
        const feature = unneededFeatures.find((each) => line.startsWith(`import './${each}`));
        missing.delete(feature);
        return feature === undefined;
      });
      return lines.join('\n');
    },
    buildEnd(error) {
      if (error === undefined && missing.size > 0) throw new Error(`Monaco has no ${[...missing].join(', ')}.`);
    },
  };
}

/** The lines of GraphiQL's plugins that are others here; one that isn't there any more stops the build. */
const otherTexts = [
  // Each entry of the history (0.4.4) is named by its own text; they all had one name for screen readers.
  { file: 'plugin-history/dist/components.js', from: ', "aria-label": "Set active"', to: '' },
  // The documentation (0.4.4) says why it is empty.
  {
    file: 'plugin-doc-explorer/dist/components/doc-explorer.js',
    from: 'children: "Error fetching schema"',
    to: 'children: "There is no schema to show: the notice at the top says why."',
  },
  // A search (0.4.4) lists what has this very name first, a field before the types that contain its name. Each place
  // has a key of its own, or the option that was the first one would stay the chosen one.
  {
    file: 'plugin-doc-explorer/dist/components/search.js',
    from: 'results.types.map(_temp2),\n      results.fields.map(_temp3)',
    to: `[
        ...results.types.map((result, index) => ({ name: result.type.name, option: _temp2(result, index) })),
        ...results.fields.map((result, index) => ({ name: result.argument ? '' : result.field.name, option: _temp3(result, index) })),
      ].sort((one, other) => (other.name === searchValue) - (one.name === searchValue)).map(({ option }, index) => jsx(Fragment, { children: option }, index))`,
  },
];

function withOtherTexts() {
  const missing = new Set(otherTexts);
  return {
    name: 'with-other-texts',
    transform(code, id) {
      const found = otherTexts.find(({ file, from }) => id.includes(file) && code.includes(from));
      if (found === undefined) return undefined;
      missing.delete(found);
      return code.replace(found.from, found.to);
    },
    buildEnd(error) {
      if (error === undefined && missing.size > 0)
        throw new Error(`GraphiQL has no ${[...missing].map(({ from }) => from).join(', ')}.`);
    },
  };
}

/** Modules that the page loads by `import()` before there is an editor; others can wait. */
const wantedAtOnce = /\/(?:explorer\/(?:app\.tsx|examples\.ts)|monaco-graphql\/esm\/(?:monaco-editor|lite)\.js)$/;

/**
 * The page names what its first script will ask for, and what that will, so that a slow line isn't waited for three
 * times over.
 */
function fetchedAtOnce() {
  return {
    name: 'fetched-at-once',
    transformIndexHtml: {
      order: 'post',
      handler(html, { bundle }) {
        const chunks = Object.values(bundle).filter(({ type }) => type === 'chunk');
        const wanted = new Set(chunks.filter(({ facadeModuleId }) => wantedAtOnce.test(facadeModuleId)));
        for (const { imports } of wanted) for (const name of imports) wanted.add(bundle[name]);
        const scripts = [...wanted].map(({ fileName }) => ({
          rel: 'modulepreload',
          fetchpriority: 'low',
          href: `./${fileName}`,
        }));
        const sheets = [...wanted]
          .flatMap(({ viteMetadata }) => [...viteMetadata.importedCss])
          .map((fileName) => ({ rel: 'preload', as: 'style', fetchpriority: 'low', href: `./${fileName}` }));
        return [...scripts, ...sheets]
          .filter(({ href }) => !html.includes(href))
          .map((attributes) => ({ tag: 'link', attrs: { ...attributes, crossorigin: true }, injectTo: 'head' }));
      },
    },
  };
}
