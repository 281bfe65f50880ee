/**
 * Configuration of the documentation site. Its pages are the Markdown files that GitHub also shows:
 * those of docs/, and README.md as the home page. docs/README.md decides the order of the sidebar.
 */
import { join } from 'node:path'
import { defineConfig } from 'vitepress'
import {
  chaptersLink,
  type ContentsItem,
  readContents,
  type Reader,
  readReaders,
  readSummary,
} from '../contents.ts'
import { addRules } from '../markdown.ts'
import { anchorOf, manifest, notPages, pageOf, repository, root } from '../pages.ts'

const cache = join(root, '.cache', 'site')
/**
 * Version of JavaScript. It is newer than Vite's default, which includes a Safari for which esbuild
 * does not compile.
 */
const target = 'es2022'
/** Size of the search index, which is a chunk of its own, above which Vite warns. */
const INDEX_KB_MAX = 2_000
/** Path of the site on its server, such as `/keelson/`. */
const base = process.env['SITE_BASE'] ?? '/'
/** The build writes these pages, so docs/README.md cannot link to them. */
const apiReference = { text: 'Kubernetes API', link: '/reference/api/' }
const contents = readContents()
const readers = readReaders()

export default defineConfig({
  title: 'Keelson',
  description: manifest.description,
  lang: 'en-US',
  base,
  head: [['link', { rel: 'icon', type: 'image/svg+xml', href: `${base}icon.svg` }]],
  srcDir: root,
  srcExclude: [...notPages],
  rewrites: (file) => pageOf(file) ?? file,
  outDir: join(cache, 'pages'),
  cacheDir: join(cache, 'vite'),
  metaChunk: true,
  markdown: {
    anchor: { slugify: anchorOf },
    config: addRules,
    languageAlias: { crontab: 'sh', haproxy: 'nginx' },
  },
  vite: {
    publicDir: join(root, 'site', 'public'),
    build: { target, chunkSizeWarningLimit: INDEX_KB_MAX },
    optimizeDeps: { esbuildOptions: { target } },
    // The development server watches the whole repository, because README.md is a page.
    server: { watch: { ignored: ['**/.cache/**', '**/src/**', '**/test/**'] } },
  },
  transformPageData: ({ filePath }) =>
    filePath === 'README.md'
      ? { title: 'Keelson', titleTemplate: ':title', frontmatter: homeFields() }
      : undefined,
  themeConfig: {
    nav: [
      { text: 'Chapters', link: chaptersLink, activeMatch: '^/chapters' },
      ...readers.map(navigationItem),
      {
        text: `v${manifest.version}`,
        items: [
          { text: 'Changelog', link: '/changelog' },
          { text: 'Security', link: '/security' },
          { text: 'Contributing', link: '/contributing' },
        ],
      },
    ],
    sidebar: contents.map(({ text, items }) => ({
      text,
      collapsed: text === 'Contribute',
      items: text === 'Reference' ? [...items, apiReference] : [...items],
    })),
    outline: [2, 3],
    search: { provider: 'local' },
    socialLinks: [{ icon: 'github', link: repository }],
    editLink: { pattern: `${repository}/edit/main/:path`, text: 'Edit this page' },
    footer: { message: `Keelson ${manifest.version}, licensed under Apache-2.0` },
  },
})

/** Returns a short link to the first task of a reader: the name of its section of chapters. */
function navigationItem({ aim, chapters: [first] }: Reader): ContentsItem {
  const section = contents.find(({ items }) => items.some(({ link }) => link === first?.link))
  return { text: section?.text ?? aim, link: first?.link ?? chaptersLink }
}

/** Returns the fields of the home page: the readers, each with a link to the first task. */
function homeFields(): Record<string, unknown> {
  return {
    layout: 'home',
    search: false,
    hero: {
      name: 'Keelson',
      tagline: readSummary(),
      actions: [
        { theme: 'brand', text: 'Start', link: '/start' },
        { theme: 'alt', text: 'All chapters', link: chaptersLink },
      ],
    },
    features: readers.map(({ aim, details, chapters: [first] }) => ({
      title: aim,
      details,
      link: first?.link,
      linkText: first?.text,
    })),
  }
}
