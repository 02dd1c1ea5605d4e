/** Script and style of README.html, as they ship, and the policy that lets exactly them run. */
import { createHash } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { resourcePath } from '../../files/resources.ts'

/** In this order: a part uses what stands before it. */
const PARTS = [
  ...['data', 'figures', 'make', 'time', 'plot', 'charts', 'strip', 'tiles', 'targets', 'jobs', 'rules', 'events'],
  ...['keys', 'main'],
]

/** Parts are modules for the checker and the tests; joined they are one plain script, which a page from disk may run. */
export const joined = (parts: readonly string[]): string => {
  const plain = parts.map((text) =>
    text
      .replace(/^import\b[^;'"]*?from '\.\/[a-z]+\.js'$/gm, '')
      .replace(/^export (?=(?:const|let|function|class)\b)/gm, ''),
  )
  return `'use strict'\n;(() => {\n${plain.join('\n')}\n})()\n`
}

export interface PageParts {
  readonly script: string
  readonly style: string
  /** Content of the policy's meta tag. */
  readonly policy: string
}

const hashOf = (text: string): string => `'sha256-${createHash('sha256').update(text, 'utf8').digest('base64')}'`

/** Comments and indentation are left in the checkout. */
const slim = (text: string): string =>
  text
    .replace(/^[ \t]*\/\*(?:(?!\*\/)[\s\S])*\*\/[ \t]*$/gm, '')
    .replace(/^[ \t]*\/\/.*$/gm, '')
    .replace(/^\s+/gm, '')
    .replace(/\n{2,}/g, '\n')

let parts: PageParts | undefined

/** Read once; a checkout's or an installation's files do not change under a run. */
export function pageParts(): PageParts {
  if (parts) return parts
  const read = (name: string): string => readFileSync(resourcePath(`replay/${name}`), 'utf8').replaceAll('\r\n', '\n')
  const script = slim(joined(PARTS.map((name) => read(`${name}.js`))))
  const style = slim(read('replay.css'))
  const policy = [
    "default-src 'none'",
    `script-src ${hashOf(script)}`,
    `style-src ${hashOf(style)}`,
    'img-src data:',
    "base-uri 'none'",
    "form-action 'none'",
  ].join('; ')
  return (parts = { script, style, policy })
}
