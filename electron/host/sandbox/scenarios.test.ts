import {
  chmodSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { checkScenario } from './scenarios-check.ts'
import { nameFault, notSaved, ScenarioStore } from './scenarios.ts'

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
  it('begins with the built-in scenarios, the demo first, and every one opens without a fault', () => {
    const shelf = new ScenarioStore(dir)
    const entries = shelf.entries()
    expect(entries[0]).toMatchObject({ id: 'built-in/demo', own: false, title: 'Four OSTs, one heavy job' })
    expect(entries.length).toBeGreaterThanOrEqual(10)
    for (const e of entries) {
      const opened = shelf.open(e.id)
      if (!opened.ok) throw new Error(e.id)
      expect(opened.value.check.faults).toEqual([])
      expect(opened.value.check.suggested.length).toBeGreaterThan(1)
      expect(e.about).not.toBe('')
    }
  })

  it('keeps what is saved over another start, and removes it', () => {
    const saved = new ScenarioStore(dir).save('My Scénario 1', text, false)
    expect(saved).toEqual({ ok: true, value: { id: 'own/My Scénario 1' } })
    const shelf = new ScenarioStore(dir)
    expect(shelf.entries().at(-1)).toEqual({ id: 'own/My Scénario 1', title: 'Mine', about: 'two jobs', own: true })
    expect(shelf.open('own/My Scénario 1')).toMatchObject({ ok: true, value: { text } })
    expect(shelf.remove('own/My Scénario 1')).toEqual({ ok: true, value: undefined })
    expect(shelf.open('own/My Scénario 1')).toMatchObject({ ok: false, error: { code: 'NO_SCENARIO' } })
    expect(readdirSync(join(dir, 'scenarios'))).toEqual([])
  })

  it('takes no name twice unless told to', () => {
    const shelf = new ScenarioStore(dir)
    expect(shelf.save('a', text, false).ok).toBe(true)
    expect(shelf.save('a', 'other', false)).toMatchObject({ ok: false, error: { code: 'SCENARIO_EXISTS' } })
    expect(shelf.open('own/a')).toMatchObject({ value: { text } })
    expect(shelf.save('a', 'other', true).ok).toBe(true)
    expect(shelf.open('own/a')).toMatchObject({ value: { text: 'other' } })
  })

  it('shows a broken file by its name, and what is wrong with it when it is opened', () => {
    mkdirSync(join(dir, 'scenarios'))
    writeFileSync(join(dir, 'scenarios', 'broken.yaml'), 'title: [')
    const shelf = new ScenarioStore(dir)
    expect(shelf.entries().at(-1)).toMatchObject({ id: 'own/broken', title: 'broken' })
    const opened = shelf.open('own/broken')
    expect(opened.ok && opened.value.check.faults[0]).toMatchObject({ code: 'SCENARIO_SYNTAX', line: 1 })
  })

  it('without a data folder keeps nothing and says so', () => {
    expect(new ScenarioStore(undefined).save('a', text, false)).toMatchObject({
      ok: false,
      error: { code: 'NO_DATA_DIR' },
    })
  })

  it('leaves the old text and no other file when a save fails', () => {
    const shelf = new ScenarioStore(dir)
    shelf.save('a', text, false)
    // A folder in its place cannot be replaced by a file.
    mkdirSync(join(dir, 'scenarios', 'b.yaml'))
    const r = shelf.save('b', text, true)
    expect(r).toMatchObject({
      ok: false,
      error: { code: 'SCENARIO_NOT_SAVED', unaffected: 'Other scenarios stay as they are.' },
    })
    expect(readdirSync(join(dir, 'scenarios')).sort()).toEqual(['a.yaml', 'b.yaml'])
  })

  it.runIf(existsSync('/dev/full'))('tells a full disk from other failures', () => {
    let thrown: unknown
    try {
      writeFileSync('/dev/full', text)
    } catch (e) {
      thrown = e
    }
    const next = 'Free disk space and save again.'
    expect(notSaved(thrown)).toMatchObject({ code: 'SCENARIO_NOT_SAVED', why: 'the disk is full', next })
    expect(notSaved(new Error('EROFS')).why).toBe('EROFS')
  })
})

describe('exploits', () => {
  it.each([
    '../evil',
    'a/b',
    '..',
    '.',
    '.hidden',
    '/etc/passwd',
    'a\\b',
    'a\u0000b',
    '',
    ' ',
    'a ',
    'a.',
    'CON',
    'nul.txt',
    '-rf',
    'a\nb',
    'x'.repeat(81),
  ])('path traversal by name is refused: %j', (name) => {
    expect(nameFault(name)).toBeDefined()
    const shelf = new ScenarioStore(dir)
    expect(shelf.save(name, text, true)).toMatchObject({ ok: false, error: { code: 'SCENARIO_NAME' } })
    expect(existsSync(join(dir, 'scenarios'))).toBe(false)
  })

  it.each([
    'own/../../secret',
    'built-in/../../package',
    '../secret',
    'own/',
    '',
    'built-in/demo.yaml',
    'own/..%2fsecret',
  ])('path traversal by id opens and removes nothing: %j', (id) => {
    writeFileSync(join(dir, 'secret.yaml'), 'title: secret')
    const shelf = new ScenarioStore(dir)
    expect(shelf.open(id)).toMatchObject({ ok: false, error: { code: 'NO_SCENARIO' } })
    expect(shelf.remove(id).ok).toBe(false)
    expect(readFileSync(join(dir, 'secret.yaml'), 'utf8')).toBe('title: secret')
  })

  it('a built-in scenario cannot be removed or replaced', () => {
    const shelf = new ScenarioStore(dir)
    expect(shelf.remove('built-in/demo')).toMatchObject({ ok: false, error: { code: 'SCENARIO_BUILT_IN' } })
    expect(shelf.save('demo', text, true)).toMatchObject({ ok: true, value: { id: 'own/demo' } })
    expect(shelf.open('built-in/demo')).toMatchObject({ value: { check: { title: 'Four OSTs, one heavy job' } } })
  })

  it('aliases that would fill the memory are a fault in their place', () => {
    const bomb = [
      'a: &a [x, x, x, x, x, x, x, x, x]',
      ...'bcdefghi'.split('').map((c, i) => `${c}: &${c} [${Array(9).fill(`*${'abcdefghi'[i]}`).join(', ')}]`),
    ].join('\n')
    expect(checkScenario(bomb).faults[0]).toMatchObject({ code: 'SCENARIO_SYNTAX' })
  })
})

describe('a check', () => {
  it('draws what the scenario is, and suggests what to try', () => {
    const { topology, counts, suggested, title, knowledge } = checkScenario(text)
    expect(title).toBe('Mine')
    expect(counts).toEqual({ jobs: 2, osts: 1, mdts: 0, cpts: 1 })
    expect(topology).toMatchObject({
      clients: 3,
      servers: [{ name: 'oss01', kind: 'oss', policy: 'tbf jobid', targets: [{ name: 't-OST0000', jobs: 2 }] }],
      jobs: [{ jobId: '1.hog.u1', processes: 64 }, { jobId: '2.calm.u2' }],
      moreJobs: 0,
    })
    expect(suggested.map((v) => v.name)).toEqual(['Baseline', 'Static cap', 'AdapTBF'])
    // T of 100 RPC/s, one of three nodes.
    expect(suggested[1]!.rules).toEqual([{ service: 'ost_io', line: 'start sb_cap jobid={1.hog.u1} rate=33' }])
    expect(knowledge[0]).toMatchObject({ level: 'watch' })
  })

  it('suggests no rule that a server would refuse, and none for an id that no rule can match', () => {
    const names = (t: string): string[] => checkScenario(t).suggested.map((v) => v.name)
    expect(names(text.replace('tbf jobid', 'fifo'))).toEqual(['Baseline', 'AdapTBF'])
    expect(names(text.replace('1.hog.u1', '"1 } rate=1"'))).toEqual(['Baseline', 'AdapTBF'])
  })

  it('suggests variants that differ from the baseline in one plane', () => {
    const demo = readFileSync(join(import.meta.dirname, '../../../resources/scenarios/demo.yaml'), 'utf8')
    const { suggested, planes } = checkScenario(demo)
    expect(suggested.map((v) => [v.name, v.metadata, v.locks, v.haechi])).toEqual([
      ['Baseline', 'off', null, 'scenario'],
      ['Static cap', 'off', null, 'scenario'],
      ['AdapTBF', 'off', null, 'scenario'],
      ['Metadata cap', 'psfa', null, 'scenario'],
      ['Lustre locks', 'off', 'lustre', 'scenario'],
      ['No tokens', 'off', null, 'off'],
    ])
    expect(planes!.metadataLimits).toEqual([{ scope: 'meta_op', rate: 500 }])
    expect(planes!.reservations.some((r) => r.reservation > 0)).toBe(true)
  })

  it('lists the faults of a text, twenty at most', () => {
    const many =
      text +
      Array.from(
        { length: 40 },
        (_, i) => `  - { id: ${i}, clients: [1], op: nothing, pattern: { kind: continuous } }\n`,
      ).join('')
    const { faults, topology } = checkScenario(many)
    expect(faults.length).toBe(20)
    expect(faults[0]!.line).toBe(10)
    expect(topology).toBeNull()
  })
})
