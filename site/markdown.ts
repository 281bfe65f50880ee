/** Changes our Markdown, which GitHub also shows, into what the site needs. */
import { relative } from 'node:path'
import type { MarkdownRenderer } from 'vitepress'
import { root, siteLink } from './pages.ts'

type Env = { readonly path: string; readonly realPath?: string }
type Token = ReturnType<MarkdownRenderer['parse']>[number]

/** Adds the rules to VitePress's renderer. */
export function addRules(md: MarkdownRenderer): void {
  md.core.ruler.push('site-links', ({ tokens, env }) => {
    const { path, realPath = path }: Env = env
    const file = relative(root, realPath)
    for (const token of tokens.flatMap(({ children }) => children ?? [])) {
      const link = token.type === 'link_open' ? token.attrGet('href') : null
      // Links with a class are VitePress's own anchors.
      if (link !== null && token.attrGet('class') === null)
        token.attrSet('href', siteLink(file, link))
    }
  })
  // VitePress scrolls and highlights only fenced code.
  md.core.ruler.push('site-code', ({ tokens }) => {
    for (const token of tokens)
      if (token.type === 'code_block') Object.assign(token, { type: 'fence', info: 'text' })
  })
  md.core.ruler.push('site-home', (state) => {
    const { path, realPath = path }: Env = state.env
    if (relative(root, realPath) === 'README.md') state.tokens = withoutIntroduction(state.tokens)
  })
}

/**
 * Removes the title, the first paragraph and the first table of README.md: the top of the home page
 * shows them.
 */
function withoutIntroduction(tokens: readonly Token[]): Token[] {
  const removed = new Set<Token>()
  for (const type of ['heading', 'paragraph', 'table']) {
    const start = tokens.findIndex((token) => token.type === `${type}_open`)
    const end = tokens.findIndex((token) => token.type === `${type}_close`)
    for (const token of tokens.slice(start, end + 1)) removed.add(token)
  }
  return tokens.filter((token) => !removed.has(token))
}
