/** Serves the built site from its folder, as any static web server does. */
import { existsSync, globSync, readFileSync } from 'node:fs'
import { createServer } from 'node:http'
import { extname, join } from 'node:path'
import { portOf } from '../../support/harness/port-of.ts'

const folder = join(import.meta.dirname, '..', '..', '..', '.cache', 'site', 'pages')

const contentTypes: Readonly<Record<string, string>> = {
  '.css': 'text/css',
  '.html': 'text/html; charset=utf-8',
  '.js': 'text/javascript',
  '.json': 'application/json',
  '.svg': 'image/svg+xml',
}

/** Returns the paths of all pages, such as `/decisions/`, without the error page. */
export function builtPages(): readonly string[] {
  if (!existsSync(folder)) throw new Error('the site is not built: run npm run docs:build')
  return globSync('**/*.html', { cwd: folder })
    .filter((file) => file !== '404.html')
    .map((file) => `/${file}`.replace(/\/index\.html$/, '/'))
    .toSorted()
}

/** Returns the HTML of a page. */
export const readPage = (path: string): string =>
  readFileSync(join(folder, path.endsWith('/') ? `${path}index.html` : path), 'utf8')

export type SiteServer = AsyncDisposable & { readonly url: string }

/** Serves the site on a free port. */
export async function serveSite(): Promise<SiteServer> {
  const files = new Set(globSync('**/*.*', { cwd: folder }).map((file) => `/${file}`))
  const server = createServer((request, response) => {
    const { pathname } = new URL(request.url ?? '/', 'http://site')
    const file = pathname.endsWith('/') ? `${pathname}index.html` : pathname
    if (!files.has(file)) {
      response.writeHead(404).end()
      return
    }
    response
      .writeHead(200, {
        'content-type': contentTypes[extname(file)] ?? 'application/octet-stream',
        // Assets can be cached forever, because their names contain a hash.
        'cache-control': file.startsWith('/assets/') ? 'max-age=31536000, immutable' : 'no-cache',
      })
      .end(readFileSync(join(folder, file)))
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  return {
    url: `http://127.0.0.1:${portOf(server)}`,
    [Symbol.asyncDispose]: async () => {
      server.closeAllConnections()
      await new Promise((resolve) => server.close(resolve))
    },
  }
}
