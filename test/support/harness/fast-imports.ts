/**
 * Resolves relative imports of TypeScript files without looking at the file system. A test file
 * imports up to a thousand modules, and Node would spend a third of the loading time on searching
 * for package.json files and symbolic links. CI loads this module into each test process with
 * `--import`.
 */
import { registerHooks } from 'node:module'

registerHooks({
  resolve: (specifier, context, nextResolve) =>
    context.parentURL !== undefined && /^\..*\.ts$/.test(specifier)
      ? {
          url: new URL(specifier, context.parentURL).href,
          format: 'module-typescript',
          shortCircuit: true,
        }
      : nextResolve(specifier, context),
})
