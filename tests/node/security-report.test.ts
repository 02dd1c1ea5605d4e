import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { expect, it } from 'vitest'

interface Item {
  readonly item: string
  readonly lines: readonly (readonly string[])[]
  readonly tests: readonly (readonly string[])[]
}
interface Security {
  readonly CHECKLIST: readonly Item[]
  readonly securityReport: (checklist?: readonly Item[]) => { readonly text: string; readonly open: number }
}
const { CHECKLIST, securityReport } = (await import(
  pathToFileURL(join(import.meta.dirname, '../../scripts/security.mjs')).href
)) as Security

const MAIN = 'tests/node/electron-main.test.ts'

it('has the line and the test of every item of the checklist', () => {
  const { text, open } = securityReport()
  expect(open, text).toBe(0)
  expect(CHECKLIST).toHaveLength(20)
  expect(text).toMatch(
    /^ 4\. done {2}Enable process sandboxing\n {6}line {2}electron\/main\/window\.ts:\d+ {2}sandbox: true$/m,
  )
  expect(text).toMatch(/\n20 done, 0 open\n$/)
})

it.each([
  ['a line', ['electron/main/window.ts', 'sandbox: false'], [MAIN, 'is sandboxed']],
  ['a test', ['electron/main/window.ts', 'sandbox: true'], [MAIN, 'is no test at all']],
  ['a file', ['electron/main/gone.ts', 'sandbox: true'], [MAIN, 'is sandboxed']],
] as const)('says that an item is open whose %s is gone', (_, line, test) => {
  const { text, open } = securityReport([{ item: 'Sandbox', lines: [[...line]], tests: [[...test]] }])
  expect(open).toBe(1)
  expect(text).toContain(' 1. OPEN  Sandbox')
  expect(text).toContain('MISSING in ')
})
