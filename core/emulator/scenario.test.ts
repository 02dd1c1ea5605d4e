import { readdirSync, readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { DEFAULT_LOOP_OPTIONS } from '../adaptbf/loop-options.ts'
import { loopOptionsOf, parseScenario } from './scenario.ts'

const good = `title: Two jobs
clients: { count: 2 }
oss:
  - name: oss01
    osts:
      - { name: t-OST0000, disk: { bandwidth_mb_s: 1000 } }
control: { max_rate: 100 }
jobs:
  - id: 1.a.u0
    clients: [1, 2]
    op: write
    size_kib: 64
    pattern: { kind: continuous }
  - id: 2.b.u0
    clients: [2]
    op: read
    size_kib: 64
    targets: [t-OST0000]
    pattern: { kind: bursts, rpcs: 5, every_s: 1 }
`

/** Place and message of the failure after one replacement in the valid file. */
function failureOf(from: string | RegExp, to: string): { code: string; line: number; column: number; why: string } {
  const text = good.replace(from, to)
  expect(text).not.toBe(good)
  const r = parseScenario(text, 'x.yaml')
  if (r.ok) throw new Error('the scenario was taken')
  const { code, line, column, why, what } = r.error
  expect(what).toBe(`x.yaml, line ${line}, column ${column}: the scenario cannot be used`)
  return { code, line, column, why: why ?? '' }
}

describe('parseScenario', () => {
  it('fills in defaults', () => {
    const r = parseScenario(good)
    if (!r.ok) throw new Error(r.error.why)
    expect(r.value).toMatchObject({
      cluster: 'demo',
      seed: 1,
      policy: 'tbf jobid',
      clients: { count: 2, max_rpcs_in_flight: 8 },
      oss: [{ cpts: 1, threads: 16, osts: [{ disk: { per_op_us: 50, channels: 4 } }] }],
      control: { controller: 'adaptbf', mode: 'enforce', period_ms: 100 },
    })
    expect(r.value.jobs[0]).toMatchObject({ processes: 1, outstanding: 1, start_s: 0, in_slurm: true, targets: [] })
    expect(r.value.jobs[1]!.pattern).toEqual({ kind: 'bursts', rpcs: 5, every_s: 1, jitter: 0 })
  })

  it('sets AdapTBF up, by default as in the paper', () => {
    const optionsOf = (control: string): unknown => {
      const r = parseScenario(good.replace('max_rate: 100', `max_rate: 100${control}`))
      return r.ok ? loopOptionsOf(r.value) : r.error.why
    }
    expect(optionsOf('')).toEqual(DEFAULT_LOOP_OPTIONS)
    const set = {
      demand: 'backlog',
      deadbandPercent: 10,
      coefficient: 'min',
      overdraft: 0.5,
      autoT: true,
      spill: false,
    }
    const text = 'demand: backlog, deadband_percent: 10, coefficient: min, overdraft: 0.5, auto_t: true'
    expect(optionsOf(`, adaptbf: { ${text} }`)).toEqual(set)
    expect(optionsOf(', adaptbf: { deadband_percent: 60 }')).toContain('0 to 50')
    expect(optionsOf(', adaptbf: { overdraft: -1 }')).toContain('0 to 1')
    expect(optionsOf(', adaptbf: { demand: guess }')).toContain('"served"|"dispatched"')
    expect(optionsOf(', adaptbf: { spill: true }')).toContain('needs a scheduler')
    expect(optionsOf(', adaptbf: { autoT: true }')).toContain('autoT')
  })

  it.each(['0', '-5', '.nan', '.inf', '2.0e+9', 'fast', 'null'])(
    'says what T may be, and on which line: %s',
    (rate) => {
      const { code, line, column, why } = failureOf('max_rate: 100', `max_rate: ${rate}`)
      expect({ code, line, column }).toEqual({ code: 'SCENARIO_INVALID', line: 7, column: 22 })
      expect(why).toBe('control.max_rate: expected a maximum token rate T above 0 and up to 1e9 RPC/s')
    },
  )

  it.each(['0', '-100', '49', '10001', '99.5', '.nan', '.inf', 'soon'])('says how long dt may be: %s', (period) => {
    const { code, line, column, why } = failureOf('max_rate: 100', `max_rate: 100, period_ms: ${period}`)
    expect({ code, line, column }).toEqual({ code: 'SCENARIO_INVALID', line: 7, column: 38 })
    expect(why).toBe('control.period_ms: expected a period of 50 to 10000 whole ms')
  })

  it('takes every scenario that comes with the program', () => {
    const folder = new URL('../../resources/scenarios/', import.meta.url)
    const files = readdirSync(folder).filter((f) => /\.ya?ml$/.test(f))
    expect(files.length).toBeGreaterThan(0)
    for (const file of files)
      expect(parseScenario(readFileSync(new URL(file, folder), 'utf8'), file)).toMatchObject({ ok: true })
  })

  it('points at text that is not YAML', () => {
    expect(failureOf('title: Two jobs', 'title: Two: jobs')).toMatchObject({
      code: 'SCENARIO_SYNTAX',
      line: 1,
      column: 8,
    })
    expect(failureOf('[1, 2]', '[1, 2')).toMatchObject({ code: 'SCENARIO_SYNTAX', line: 11 })
    expect(failureOf('title: Two jobs', 'title: a\ntitle: b')).toMatchObject({
      code: 'SCENARIO_SYNTAX',
      line: 2,
      column: 1,
    })
  })

  it('points at an unknown key', () => {
    const f = failureOf('    size_kib: 64\n    pattern', '    size_kb: 64\n    size_kib: 64\n    pattern')
    expect(f).toMatchObject({ code: 'SCENARIO_INVALID', line: 12, column: 5 })
    expect(f.why).toContain('size_kb')
  })

  it('points at a value of the wrong type or out of range', () => {
    expect(failureOf('count: 2', 'count: two')).toMatchObject({ code: 'SCENARIO_INVALID', line: 2, column: 19 })
    expect(failureOf('count: 2', 'count: 0')).toMatchObject({ code: 'SCENARIO_INVALID', line: 2, column: 19 })
    expect(failureOf('op: read', 'op: erase')).toMatchObject({ line: 16, column: 9 })
    expect(failureOf('1.a.u0', '7').why).toContain('jobs.0.id')
  })

  it('points at the map that lacks a key, and names the key', () => {
    const f = failureOf('    op: read\n', '')
    expect(f).toMatchObject({ code: 'SCENARIO_INVALID', line: 14, column: 5 })
    expect(f.why).toContain('jobs.1.op')
  })

  it('points at jobs that share an id, targets that do not exist and clients out of range', () => {
    expect(failureOf('2.b.u0', '1.a.u0')).toEqual({
      code: 'SCENARIO_INVALID',
      line: 14,
      column: 9,
      why: 'jobs.1.id: another job is called 1.a.u0',
    })
    expect(failureOf('[t-OST0000]', '[t-OST0001]')).toEqual({
      code: 'SCENARIO_INVALID',
      line: 18,
      column: 15,
      why: 'jobs.1.targets.0: no target is called t-OST0001',
    })
    expect(failureOf('[1, 2]', '[1, 3]')).toEqual({
      code: 'SCENARIO_INVALID',
      line: 10,
      column: 18,
      why: 'jobs.0.clients.1: there are only 2 clients',
    })
  })

  it('points at nodes and targets that share a name, and at a job that ends before it starts', () => {
    const twice = failureOf(
      '- { name: t-OST0000, disk: { bandwidth_mb_s: 1000 } }',
      '- &t { name: o, disk: { bandwidth_mb_s: 1 } }\n      - *t',
    )
    expect(twice.why).toContain('another target is called o')
    expect(failureOf('    op: read', '    op: read\n    start_s: 5\n    stop_s: 5')).toMatchObject({
      line: 18,
      column: 13,
    })
  })

  it('refuses policies that the emulator does not run and job ids that are no bytes', () => {
    expect(failureOf('title: Two jobs', 'title: x\npolicy: tbf size')).toMatchObject({ line: 2, column: 9 })
    expect(failureOf('2.b.u0', 'ж.b')).toMatchObject({ line: 14, column: 9 })
    expect(parseScenario(good.replace('2.b.u0', '"b\u00e9 \\n"')).ok).toBe(true)
  })

  it('takes every TBF type that the release of the servers has, and no other', () => {
    const withVersion = (version: string, policy: string): string | undefined => {
      const text = good
        .replace('title: Two jobs', `title: x\npolicy: ${policy}`)
        .replace('- name: oss01', `- name: oss01\n    version: ${version}`)
      const r = parseScenario(text)
      return r.ok ? undefined : r.error.why
    }
    for (const policy of ['fifo', 'tbf', 'tbf nid', 'tbf uid', 'tbf jobid+opcode', 'tbf projid', 'tbf nodemap']) {
      expect(withVersion('2.17.57', policy), policy).toBeUndefined()
    }
    for (const policy of ['tbf', 'tbf opcode', 'tbf gid']) expect(withVersion('2.15.8', policy), policy).toBeUndefined()
    expect(withVersion('2.15.8', 'tbf projid')).toBe('policy: oss01 with Lustre 2.15.8 rejects "tbf projid": ENOTSUPP')
    expect(withVersion('2.17.0', 'tbf nodemap')).toContain('rejects "tbf nodemap"')
    expect(withVersion('2.17.57', 'crrn')).toContain('expected fifo, or tbf')
    expect(withVersion('newest', 'fifo')).toContain('expected a Lustre version')
  })

  it('has metadata servers, and jobs that do several operations in turn', () => {
    const mds = 'control: { max_rate: 100 }\nmds: [{ name: mds01, mdts: [{ name: t-MDT0000, op_us: { mkdir: 400 } }] }]'
    const text = good.replace('control: { max_rate: 100 }', mds).replace('op: write', 'op: [create, write, close]')
    const r = parseScenario(text)
    if (!r.ok) throw new Error(r.error.why)
    expect(r.value.mds[0]).toMatchObject({
      cpts: 1,
      threads: 16,
      timer_latency_us: 50,
      mdts: [{ per_op_us: 150, channels: 8, op_us: { mkdir: 400 } }],
    })
    expect(r.value.jobs[0]).toMatchObject({
      op: ['create', 'write', 'close'],
      uid: 0,
      gid: 0,
      projid: 0,
      cached: false,
    })
    expect(r.value.jobs[1]).toMatchObject({ op: ['read'] })
    // A size requires data operations.
    const stat = good.replace('control: { max_rate: 100 }', mds).replace('op: write\n    size_kib: 64', 'op: stat')
    expect(parseScenario(stat)).toMatchObject({ ok: true })
  })

  it('points at operations that have nowhere to go, and at what belongs together and is not', () => {
    expect(failureOf('op: read', 'op: [read, stat]')).toMatchObject({
      line: 16,
      column: 9,
      why: 'jobs.1.op: metadata operations need an MDT: the scenario has no mds',
    })
    const mds = 'control: { max_rate: 100 }\nmds: [{ name: mds01, mdts: [{ name: t-MDT0000 }] }]'
    const meta = good.replace('control: { max_rate: 100 }', mds).replace('op: read', 'op: mkdir')
    expect(parseScenario(meta)).toMatchObject({
      ok: false,
      error: { line: 19, why: 'jobs.1.targets: metadata operations need an MDT among them' },
    })
    expect(failureOf('    size_kib: 64\n    pattern', '    pattern').why).toBe(
      'jobs.0.size_kib: required for a job that reads or writes',
    )
    expect(failureOf('op: write', 'op: write\n    cached: true')).toMatchObject({ line: 12, column: 13 })
    expect(failureOf('op: write', 'op: write\n    cached: true\n    shared: r').why).toContain('jobs.0.targets')
    expect(failureOf('op: read', 'op: read\n    cached: true\n    shared: r').why).toBe(
      'jobs.1.op: a cached job can only write',
    )
    expect(failureOf('op: read', 'op: []').why).toContain('jobs.1.op')
    expect(failureOf('op: read', 'op: [read, erase]')).toMatchObject({ line: 16, column: 16 })
    expect(failureOf('count: 2', 'count: 2, mounted_on: [oss09]').why).toBe(
      'clients.mounted_on.0: no server is called oss09',
    )
    expect(failureOf('size_kib: 64', 'size_kib: 64\n    uid: 4294967295').why).toContain('jobs.0.uid')
  })

  it('refuses aliases that lead nowhere, or everywhere, at their place', () => {
    expect(failureOf('title: Two jobs', 'title: *nobody')).toMatchObject({
      code: 'SCENARIO_SYNTAX',
      line: 1,
      column: 8,
    })
    const nines = (name: string, of: string): string => `${name}: &${name} [${Array<string>(9).fill(of).join(', ')}]\n`
    const bomb = nines('a', 'x') + nines('b', '*a') + nines('c', '*b') + nines('d', '*c') + nines('e', '*d')
    expect(failureOf('title: Two jobs\n', `title: x\n${bomb}`)).toMatchObject({ code: 'SCENARIO_SYNTAX', line: 3 })
  })

  it('reports a duplicate key at its place, and reads a map of any length', () => {
    const keys = Array.from({ length: 20_000 }, (_, i) => `k${i}: 1\n`).join('')
    expect(parseScenario(`${keys}k7: { a: 1, a: 2 }\n`)).toMatchObject({
      error: { code: 'SCENARIO_SYNTAX', line: 20_001, column: 1, why: 'Map keys must be unique (and 1 more)' },
    })
  })

  it('answers any text with a scenario or a place in it', () => {
    for (const text of [
      '',
      '\n',
      '- 1',
      'null',
      '{}',
      'title: [',
      '\u0000',
      'a: b: c',
      '---\n---\n',
      '%YAML 9',
      '! ',
    ]) {
      const r = parseScenario(text)
      expect(r.ok).toBe(false)
      if (!r.ok) expect([r.error.line >= 1, r.error.column >= 1], JSON.stringify(text)).toEqual([true, true])
    }
  })
})

describe('values that no run could handle', () => {
  it.each([
    [
      'a start beyond what virtual time can count',
      'size_kib: 64\n    pattern: { kind: continuous }',
      'size_kib: 64\n    start_s: 10000000\n    pattern: { kind: continuous }',
    ],
    ['bursts so close that time would stand still', 'every_s: 1 ', 'every_s: 1.0e-10 '],
    ['a disk that never ends a transfer', 'bandwidth_mb_s: 1000', 'bandwidth_mb_s: 1.0e-9'],
    ['a period longer than what a lease bears', 'max_rate: 100 ', 'max_rate: 100, period_ms: 60000 '],
  ])('%s is refused where it stands', (_, from, to) => {
    const { code, line } = failureOf(from, to)
    expect(code).toBe('SCENARIO_INVALID')
    expect(line).toBeGreaterThan(1)
  })
})
