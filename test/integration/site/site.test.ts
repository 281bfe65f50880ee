/**
 * Opens every page of the built site in headless Chromium, at the widths of a desktop and a phone,
 * and uses the search and the switch for dark colors. `npm run docs:build` builds the site.
 */
import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { type Browser, type BrowserContext, chromium, type Page } from 'playwright-core'
import { toolPath } from '../../support/harness/etcd.ts'
import { readReaders } from '../../../site/contents.ts'
import { builtPages, readPage, serveSite } from './site-server.ts'

const pages = builtPages()
const site = await serveSite()
after(() => site[Symbol.asyncDispose]())
// Chromium's sandbox does not work for root, nor in most containers. It is not needed, because the
// pages are our own.
const browser: Browser = await chromium.launch({
  executablePath: toolPath('chromium'),
  args: ['--no-sandbox'],
})
after(() => browser.close())

const widths = { desktop: 1280, phone: 390 }
const HEIGHT = 900
/** Number of browser tabs. */
const TABS = 2

/** Expression that returns elements that make the page wider than the window. */
const wideElements = `(() => {
  const { clientWidth, scrollWidth } = document.documentElement
  if (scrollWidth <= clientWidth) return []
  const scrolls = (element) => element !== null &&
    (getComputedStyle(element).overflowX !== 'visible' || scrolls(element.parentElement))
  return [...document.querySelectorAll('body *')]
    .filter((element) => element.getBoundingClientRect().right > clientWidth + 1)
    .filter((element) => !scrolls(element.parentElement))
    .map((element) => element.tagName + '.' + element.className + ': ' + element.textContent.slice(0, 60))
    .slice(-3)
})()`

test('every page opens without errors, and is not too wide for a desktop or a phone', async () => {
  assert.ok(pages.length > 60, `${pages.length} pages`)
  const queue = [...pages.entries()]
  const faults: string[] = []
  await using context = await openContext(widths.desktop)
  const work = async (): Promise<void> => {
    const page = await context.newPage()
    for (let next = queue.shift(); next !== undefined; next = queue.shift()) {
      const [at, path] = next
      const sizes = [widths.desktop, widths.phone]
      faults.push(...(await faultsOf(page, path, at % 2 === 0 ? sizes : sizes.toReversed())))
    }
  }
  await Promise.all(Array.from({ length: TABS }, work))
  assert.deepEqual(faults, [])
})

test('every link within the site leads to a page and a heading', () => {
  const targets = new Map(pages.map((path) => [path, idsOf(readPage(path))]))
  const faults = pages.flatMap((path) =>
    [...readPage(path).matchAll(/<a [^>]*?href="(\/[^"#]*|)(?:#([^"]*))?"/g)]
      .filter(([, to, anchor]) => {
        const ids = targets.get(to === undefined || to === '' ? path : asBuilt(to))
        return ids === undefined || (anchor !== undefined && !ids.has(decodeURIComponent(anchor)))
      })
      .map(([, to, anchor]) => `${path}: ${to}#${anchor}`),
  )
  assert.deepEqual([...new Set(faults)], [])
})

test('each kind of reader reaches the first task with one click, also on a phone', async () => {
  for (const width of Object.values(widths)) {
    await using context = await openContext(width)
    const page = await context.newPage()
    for (const { aim, chapters } of readReaders()) {
      await page.goto(site.url)
      await page.locator('.VPFeature').filter({ hasText: aim }).click()
      const [first] = chapters
      await page.waitForURL(`${site.url}${first?.link.replace(/\.md$/, '.html')}`)
      await page.locator('.vp-doc pre').first().waitFor()
    }
  }
})

test('the search finds the page of a flag', async () => {
  await using context = await openContext(widths.desktop)
  const page = await context.newPage()
  await page.goto(site.url)
  await page.getByRole('button', { name: 'Search' }).click()
  await page.getByRole('searchbox').fill('encryption-provider-config')
  await page.locator('#localsearch-list a').first().waitFor()
  const found = await page.locator('#localsearch-list a').all()
  const links = await Promise.all(found.map((link) => link.getAttribute('href')))
  assert.ok(
    links.some((link) => link?.startsWith('/encryption.html')),
    links.join(' '),
  )
  await page.keyboard.press('Enter')
  await page.waitForURL(/\.html#/)
})

test('the appearance switch turns on dark colors for the current page and for later pages', async () => {
  await using context = await openContext(widths.desktop)
  const page = await context.newPage()
  await page.goto(`${site.url}/start.html`)
  const background = (): Promise<string> =>
    page.evaluate('getComputedStyle(document.body).backgroundColor')
  const light = await background()
  await page.getByRole('switch').first().click()
  await page.locator('html.dark').waitFor({ state: 'attached' })
  assert.notEqual(await background(), light)
  await page.goto(`${site.url}/operate.html`)
  assert.equal(await page.locator('html.dark').count(), 1)
})

function openContext(width: number): Promise<BrowserContext> {
  return browser.newContext({
    viewport: { width, height: HEIGHT },
    colorScheme: 'light',
    reducedMotion: 'reduce',
  })
}

/**
 * Opens a page at the first width, and then changes the width, which takes much less time than to
 * open the page again. Returns its errors, its failed requests and its overflow.
 */
async function faultsOf(
  page: Page,
  path: string,
  sizes: readonly number[],
): Promise<readonly string[]> {
  const faults: string[] = []
  page.removeAllListeners()
  page.on('pageerror', (error) => faults.push(`${path}: ${error.message}`))
  page.on('console', (message) => {
    if (['error', 'warning'].includes(message.type())) faults.push(`${path}: ${message.text()}`)
  })
  page.on('requestfailed', (request) => {
    // Ignore canceled requests. When the next page is opened, the browser cancels pending requests
    // of the current page, such as those for linked pages.
    const reason = request.failure()?.errorText
    if (reason !== 'net::ERR_ABORTED') faults.push(`${path}: ${request.url()}: ${reason}`)
  })
  page.on('request', (request) => {
    if (!/^(?:data:|blob:)/.test(request.url()) && !request.url().startsWith(site.url))
      faults.push(`${path}: ${request.url()} is on another server`)
  })
  page.on('response', (response) => {
    if (response.status() >= 400) faults.push(`${path}: ${response.url()}: ${response.status()}`)
  })
  const [first = widths.desktop] = sizes
  await page.setViewportSize({ width: first, height: HEIGHT })
  await page.goto(`${site.url}${path}`, { waitUntil: 'load' })
  // Wait until Vue controls the root element of the page. The page is complete then.
  await page.waitForFunction(`document.querySelector('#app')?.__vue_app__ !== undefined`)
  for (const width of sizes) {
    await page.setViewportSize({ width, height: HEIGHT })
    for (const wide of await page.evaluate<string[]>(wideElements))
      faults.push(`${path}: is wider than ${width} px: ${wide}`)
  }
  return faults
}

const idsOf = (html: string): ReadonlySet<string> =>
  new Set([...html.matchAll(/\bid="([^"]+)"/g)].map(([, id = '']) => id))

/** Returns the path of the file for a link: VitePress omits `index.html`. */
const asBuilt = (to: string): string => (to.endsWith('/') ? to : to.replace(/\/index\.html$/, '/'))
