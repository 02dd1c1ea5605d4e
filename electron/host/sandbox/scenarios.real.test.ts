import { execFileSync } from 'node:child_process'
import { chmodSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { ScenarioStore } from './scenarios.ts'

const text = `title: Mine
about: two jobs
policy: tbf jobid
clients: { count: 3 }
oss: [{ name: oss01, osts: [{ name: t-OST0000, disk: { bandwidth_mb_s: 1000 } }] }]
control: { controller: none, max_rate: 100 }
jobs:
  - { id: 1.hog.u1, clients: [1], processes: 64, op: write, size_kib: 64, pattern: { kind: continuous } }
  - { id: 2.calm.u2, clients: [2, 3], op: write, size_kib: 64, pattern: { kind: poisson, rate: 5 } }
`

let dir = ''
beforeEach(() => {
  dir = mkdtempSync(join(tmpdir(), 'sluice-shelf-'))
})
afterEach(() => {
  chmodSync(dir, 0o700)
  rmSync(dir, { recursive: true, force: true })
})

describe('the gallery', () => {
  it('waits for no pipe, and lists a long text by its title', () => {
    const shelf = new ScenarioStore(dir)
    shelf.save('long', `${text}# ${'x'.repeat(30_000)}\n  - { id: cut`, false)
    execFileSync('mkfifo', [join(dir, 'scenarios', 'pipe.yaml')])
    expect(shelf.entries().filter((e) => e.own)).toMatchObject([{ id: 'own/long', title: 'Mine' }])
    expect(shelf.open('own/pipe')).toMatchObject({ ok: false, error: { code: 'SCENARIO_UNREADABLE' } })
  })
})
