/** Script and style of README.html, and the content security policy that allows exactly these. */
import { createHash } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { programPath, resourcePath } from '../../files/resources.ts'
import { replayScript } from './replay-script.ts'

export interface PageParts {
  /** Null without a build: the page then has its still pictures only. */
  readonly script: string | null
  readonly style: string
  /** Content of the policy's meta tag. */
  readonly policy: string
}

const hashOf = (text: string): string => `'sha256-${createHash('sha256').update(text, 'utf8').digest('base64')}'`

/** Removes comments and indentation of a style sheet. */
const slim = (css: string): string =>
  css
    .replace(/\/\*(?:(?!\*\/)[\s\S])*\*\//g, '')
    .replace(/^\s+/gm, '')
    .replace(/\n{2,}/g, '\n')

/** Declarations of the first rule with a selector. */
function declarations(css: string, selector: string): string {
  const from = css.indexOf(`\n${selector} {`)
  const to = css.indexOf('\n}', from)
  if (from < 0 || to < 0) throw new Error(`renderer/theme/tokens.css has no rule ${selector}`)
  return css.slice(css.indexOf('{', from) + 1, to)
}

/** Tokens of the window for a page that follows the system's theme; printed, it is light. */
function pageTokens(css: string): string {
  const dark = declarations(css, ":root,\n[data-theme='dark']")
  const light = declarations(css, "[data-theme='light']")
  return `:root {${declarations(css, ':root')}${dark}\n}
@media (prefers-color-scheme: light), print {
:root:not([data-theme]) {${light}\n}
}
:root[data-theme='light'] {${light}\n}
${css.slice(css.indexOf('@media (forced-colors: active)'))}`
}

/** Page with this script, or without one. */
export function partsWith(script: string | null): PageParts {
  const read = (path: string): string => readFileSync(path, 'utf8').replaceAll('\r\n', '\n')
  const tokens = pageTokens(read(programPath('renderer/theme/tokens.css')))
  const style = slim(`${tokens}\n${read(resourcePath('replay/replay.css'))}`)
  const policy = [
    "default-src 'none'",
    `script-src ${script === null ? "'none'" : hashOf(script)}`,
    `style-src ${hashOf(style)}`,
    'img-src data:',
    "base-uri 'none'",
    "form-action 'none'",
  ].join('; ')
  return { script, style, policy }
}

let parts: PageParts | undefined

/** Parts of every page that this process writes: the files do not change during a run. */
export const pageParts = (): PageParts => (parts ??= partsWith(replayScript()))
