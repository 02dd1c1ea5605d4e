import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import type { Incident } from '#core/snapshot/notebook.ts'
import { jsonText } from './html.ts'
import { pageParts, partsWith } from './page-parts.ts'
import { readmePage } from './readme-page.ts'
import { replayData } from './replay-data.ts'
import { factsOf, fill, incidentOf, SMALL, type Size } from '#tests/kits/electron/incidents/page-facts.ts'

function pageOf(size: Size, jobId?: (k: number) => string, incident: Incident = incidentOf(size)): string {
  const history = fill(size, jobId)
  const facts = factsOf(size, incident)
  const text = readmePage(replayData(history.reader(), facts), facts)
  history.close()
  return text
}

/** Page of the default input, built once. */
let made: string | undefined
const usual = (): string => (made ??= pageOf(SMALL))

const resources = join(import.meta.dirname, '../../../resources/replay')

/** Declarations of the custom properties of a rule. */
const tokensOf = (css: string, selector: string): Map<string, string> => {
  const from = css.indexOf('{', css.indexOf(selector)) + 1
  const rule = css.slice(from, css.indexOf('\n}', from)).replace(/\s+/g, ' ')
  return new Map([...rule.matchAll(/(--[\w-]+): ([^;]+);/g)].map((m) => [m[1] ?? '', (m[2] ?? '').trim()]))
}

it('colors, fonts and radii of the page are those of the product, dark and light', () => {
  const product = readFileSync(join(resources, '../../renderer/theme/tokens.css'), 'utf8')
  const page = pageParts().style
  const plain = tokensOf(product, ':root {')
  const dark = new Map([...plain, ...tokensOf(product, ":root,\n[data-theme='dark']")])
  const light = new Map([...plain, ...tokensOf(product, "\n[data-theme='light']")])
  const pairs = [
    [dark, tokensOf(page, ':root {')],
    [light, tokensOf(page, ":root[data-theme='light']")],
    [light, tokensOf(page, ':root:not([data-theme])')],
  ] as const
  for (const [of, own] of pairs) {
    expect(own.size).toBeGreaterThan(35)
    for (const [name, value] of own) expect([name, value]).toEqual([name, of.get(name)])
  }
})

it('one script and one style, each by its hash, and a policy that lets nothing else run or load', () => {
  const { script, style, policy } = pageParts()
  expect(policy.split('; ').map((d) => d.split(' ')[0])).toEqual([
    'default-src',
    'script-src',
    'style-src',
    'img-src',
    'base-uri',
    'form-action',
  ])
  expect(policy).not.toMatch(/unsafe|\*|https?:/)
  expect(script).not.toMatch(/<\/script|<!--|^(?:import|export) /im)
  expect(style).not.toMatch(/<\/style|@import|url\(/i)
  const text = usual()
  expect(text.match(/<script/g)).toHaveLength(2)
  expect(text.match(/<style/g)).toHaveLength(1)
  expect(text).not.toMatch(/ style="| on[a-z]+="|<(?:iframe|img|object|embed|form|base|a href="(?!#))/i)
  expect(text).toBe(pageOf(SMALL))
  for (const file of readdirSync(resources)) expect(text).not.toContain(file)
})

it('no part of the script makes markup, requests or code out of text', () => {
  const { script } = pageParts()
  expect(script).not.toMatch(
    /innerHTML|outerHTML|insertAdjacentHTML|document\.write|eval\(|new Function|fetch\(|XMLHttp|WebSocket|import\(/,
  )
})

it('without a build the page is its still pictures, runs nothing and reports it', () => {
  const history = fill(SMALL)
  const facts = factsOf(SMALL, incidentOf(SMALL))
  const parts = partsWith(null)
  const text = readmePage(replayData(history.reader(), facts), facts, parts)
  history.close()
  expect(parts.policy).toContain("script-src 'none'; ")
  expect(text).not.toMatch(/<script/)
  expect(text).toContain('This page has no time cursor')
  expect(text.match(/<div class="card figure"><svg/g)?.length).toBeGreaterThanOrEqual(4)
  expect(usual()).not.toContain('This page has no time cursor')
})

it('JSON cannot end the element it stands in, nor begin a comment', () => {
  const evil = ['</script>', '<!--', '<script', ']]>', '\u2028\u2029', '&lt;', '\\u003c/script>', '${}']
  const text = jsonText(evil)
  expect(text).not.toMatch(/[<>&\u2028\u2029]/)
  expect(JSON.parse(text)).toEqual(evil)
})
