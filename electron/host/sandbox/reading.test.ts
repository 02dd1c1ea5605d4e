import { mkdtempSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, expect, it } from 'vitest'
import { complete } from './completion.ts'
import { AT_ONCE_MAX, TextReader } from './reading.ts'
import { checkScenario } from './scenarios-check.ts'

const SHORT = `title: T
clients: { count: 2 }
oss: [{ name: oss01, osts: [{ name: t-OST0000, disk: { bandwidth_mb_s: 1000 } }] }]
control: { max_rate: 100 }
jobs:
  - { id: a, clients: [1], op: read, size_kib: 64, pattern: { kind: continuous } }
`
const LONG = `${SHORT}${'# a comment\n'.repeat(AT_ONCE_MAX / 10)}`

let reader = new TextReader()
afterEach(() => {
  reader.close()
  reader = new TextReader()
})

it('says of a long text in a thread what it says of it at once', async () => {
  expect(await reader.check(SHORT)).toEqual(checkScenario(SHORT))
  let isFree = false
  setImmediate(() => (isFree = true))
  const [check, wrong, completion] = await Promise.all([
    reader.check(LONG),
    reader.check(`${LONG}title: U\n`),
    reader.complete(LONG, 4, 12),
  ])
  expect(isFree).toBe(true)
  expect(check).toEqual(checkScenario(LONG))
  expect(wrong.faults).toMatchObject([{ message: 'Map keys must be unique' }])
  expect(completion).toEqual(complete(LONG, 4, 12))
  expect(completion.options.length).toBeGreaterThan(0)
})

it('gives up a text that takes too long, and one whose thread dies, and reads the next one', async () => {
  const program = join(mkdtempSync(join(tmpdir(), 'sluice-reading-')), 'stuck.mjs')
  writeFileSync(
    program,
    `import { parentPort } from 'node:worker_threads'
parentPort.on('message', ({ what }) => { if (what.kind === 'check') process.exit(3) })`,
  )
  const onMessage = (what: string): string => {
    const file = join(mkdtempSync(join(tmpdir(), 'sluice-reading-')), 'thread.mjs')
    writeFileSync(file, `import { parentPort } from 'node:worker_threads'\nparentPort.on('message', () => { ${what} })`)
    return file
  }
  const stuck = new TextReader({ program, readMs: 50 })
  expect(await stuck.complete(LONG, 4, 12)).toEqual({ fromColumn: 12, options: [] })
  stuck.close()
  // An endless loop ends with its thread: the next text gets another one.
  const looping = new TextReader({ program: onMessage('for (;;);'), readMs: 500 })
  const late = { code: 'SCENARIO_UNREAD', message: 'the text was not read: it took longer than 0.5 s' }
  expect((await looping.check(LONG)).faults).toMatchObject([late])
  expect((await looping.check(LONG)).faults).toMatchObject([late])
  looping.close()
  const hoard = 'const all = []; for (;;) all.push(new Array(1e6).fill(1.5))'
  const hungry = new TextReader({ program: onMessage(hoard), heapMib: 64 })
  expect((await hungry.check(LONG)).faults[0]?.message).toContain('memory limit')
  hungry.close()
  const dying = new TextReader({ program })
  const why = { code: 'SCENARIO_UNREAD', message: 'the text was not read: its thread ended' }
  expect((await dying.check(LONG)).faults).toMatchObject([why])
  expect((await dying.check(LONG)).faults).toMatchObject([why])
  dying.close()
})
