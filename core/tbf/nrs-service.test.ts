import { readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { randomStream } from '../base/random.ts'
import type { Errno } from '../lustre/errno.ts'
import { parseNrsPolicies, primaryPolicy, type Queue } from '../lustre/nrs-policies.ts'
import { parseNrsTbfRule } from '../lustre/nrs-tbf-rule.ts'
import { NrsService } from './nrs-service.ts'
import { parseRuleCommand } from './rule-command.ts'

interface Request {
  readonly jobId: string
  readonly nid: string
}

const of = (jobId: string): Request => ({ jobId, nid: '0@lo' })

/** A service with 2 CPTs after the given writes, `param=value` each; every one must be accepted. */
function service(writes: readonly string[] = [], hp = true): NrsService<Request> {
  const s = new NrsService<Request>({ cpts: 2, hp })
  for (const w of writes) expect(write(s, w), w).toBe('ok')
  return s
}

function write(s: NrsService<Request>, text: string): 'ok' | Errno {
  const at = text.indexOf('=')
  const value = text.slice(at + 1)
  const r = text.startsWith('nrs_policies=') ? s.writePolicies(value) : s.writeRule(value)
  return r.ok ? 'ok' : r.error
}

/** `reg.0: [lines]` of the rules, or the errno of reading them. */
function rulesOf(s: NrsService<Request>): Record<string, string[]> | Errno {
  const text = s.readRules()
  if (!text.ok) return text.error
  const out: Record<string, string[]> = {}
  const { rules, skipped } = parseNrsTbfRule(text.value)
  expect(skipped).toEqual([])
  for (const r of rules) {
    const lines = (out[`${r.queue}.${r.cpt}`] ??= [])
    lines.push(`${r.name} ${r.conditions} ${r.rate}, ref ${r.ref}`)
  }
  return out
}

function policyOf(
  s: NrsService<Request>,
  queue: Queue = 'reg',
): { name: string; arg: string; queued: number } | undefined {
  const { policies, skipped } = parseNrsPolicies(s.readPolicies())
  expect(skipped).toEqual([])
  return primaryPolicy(policies, queue)
}

interface Case {
  id: string
  why: string
  service: string
  before: string[]
  write: string
  answer: 'ok' | Errno
  read: 'ok' | Errno
  rules?: Record<string, string[]>
}

const cases = readFileSync(new URL('./cases/commands.jsonl', import.meta.url), 'utf8')
  .trim()
  .split('\n')
  .map((line) => JSON.parse(line) as Case)

describe('commands that were executed on servers', () => {
  it.each(cases)('$id: $why', (c) => {
    const s = service(c.before, c.service === 'reg and hp')
    expect(write(s, c.write)).toBe(c.answer)
    expect(rulesOf(s)).toEqual(c.rules ?? c.read)
  })
})

describe('nrs_tbf_rule', () => {
  it('answers any mutation of a command with ok or a known errno, and keeps lists that can be read', () => {
    const random = randomStream(4690, 'mutations')
    const seeds = [
      ...cases.map((c) => c.write.slice(c.write.indexOf('=') + 1)),
      'reg start a jobid={x}&nid={1.[2-9/3].*.1@tcp} rate=5 rank=default realtime=1',
    ]
    const alphabet = ' \n\t={},&*+0159azAZ_-/[]@.\\\'"\0\u00ff'
    const known = new Set(['ok', 'EINVAL', 'ENAMETOOLONG', 'EEXIST', 'ENOENT', 'EPERM', 'ENODEV', 'EAGAIN'])
    const answers = new Map<string, number>()
    let s = service()
    for (let i = 0; i < 20_000; i++) {
      if (i % 100 === 0) s = service([`nrs_policies=${['tbf jobid+nid', 'tbf reg jobid', 'tbf nid'][(i / 100) % 3]!}`])
      let text = seeds[random.below(seeds.length)]!
      for (let n = random.below(4); n > 0; n--) {
        const at = random.below(text.length + 1)
        const kind = random.below(4)
        const insert = kind === 0 ? '' : alphabet[random.below(alphabet.length)]!
        if (kind === 3) text = text.slice(0, at) + text.slice(at, at + 8) + text.slice(at)
        else text = text.slice(0, at) + insert + text.slice(at + (kind === 1 ? 0 : 1))
      }
      const answer = write(s, `nrs_tbf_rule=${text}`)
      if (!known.has(answer)) throw new Error(`${JSON.stringify(text)}: ${answer}`)
      answers.set(answer, (answers.get(answer) ?? 0) + 1)
      if (answer === 'ok' && text.startsWith('start') && !text.includes('\n')) {
        const read = s.readRules()
        expect(read.ok && parseNrsTbfRule(read.value).skipped, text).toEqual([])
      }
    }
    for (const answer of ['ok', 'EINVAL', 'ENOENT', 'EEXIST'])
      expect(answers.get(answer) ?? 0, answer).toBeGreaterThan(20)
  })

  it('refuses commands of more than 4095 bytes and takes those below', () => {
    const s = service(['nrs_policies=tbf jobid'])
    const start = (items: number): string => `start a jobid={${'x'.repeat(items)}} rate=5`
    const room = 4095 - start(0).length
    expect(write(s, `nrs_tbf_rule=${start(room + 1)}`)).toBe('EINVAL')
    expect(write(s, `nrs_tbf_rule=${start(room)}`)).toBe('ok')
  })

  it('takes a newline behind a number and nowhere else, as echo needs it', () => {
    const verdict = (text: string): string => {
      const r = parseRuleCommand(text)
      return r.ok ? 'ok' : r.error
    }
    expect(verdict('start a jobid={x} rate=5\n')).toBe('ok')
    expect(verdict('change a rate=5\n')).toBe('ok')
    for (const text of [
      'start a jobid={x}\n',
      'stop a\n',
      'change a rank=b\n',
      'start a jobid={x} rate=5 \n',
      'stop a \n',
    ]) {
      expect(verdict(text), JSON.stringify(text)).toBe('EINVAL')
    }
  })

  it('tolerates realtime behind stop, but no rate and no rank', () => {
    const verdict = (text: string): boolean => parseRuleCommand(text).ok
    expect([verdict('stop a'), verdict('stop a '), verdict('stop a realtime=1')]).toEqual([true, true, true])
    expect([verdict('stop a rate=5'), verdict('stop a rank=b'), verdict('stop a b')]).toEqual([false, false, false])
  })

  it('walks CPT 0 reg, CPT 0 hp, CPT 1 reg, ...: what stands before a failure stays changed', () => {
    const s = service(['nrs_policies=tbf jobid', 'nrs_tbf_rule=reg start y jobid={y} rate=9'])
    expect(write(s, 'nrs_tbf_rule=start x jobid={x} rate=5 rank=y')).toBe('ENOENT')
    expect(rulesOf(s)).toEqual({
      'reg.0': ['x jobid={x} 5, ref 0', 'y jobid={y} 9, ref 0', 'default * 10000, ref 0'],
      'reg.1': ['y jobid={y} 9, ref 0', 'default * 10000, ref 0'],
      'hp.0': ['default * 10000, ref 0'],
      'hp.1': ['default * 10000, ref 0'],
    })
  })

  it('applies the rate of a change whose rank is unknown, on the first head only', () => {
    const s = service(['nrs_policies=tbf jobid', 'nrs_tbf_rule=start r jobid={r} rate=5'])
    expect(write(s, 'nrs_tbf_rule=change r rate=77 rank=nosuch')).toBe('ENOENT')
    expect(rulesOf(s)).toMatchObject({
      'reg.0': ['r jobid={r} 77, ref 0', 'default * 10000, ref 0'],
      'reg.1': ['r jobid={r} 5, ref 0', 'default * 10000, ref 0'],
      'hp.0': ['r jobid={r} 5, ref 0', 'default * 10000, ref 0'],
    })
  })

  it('reads a start by the type of the high-priority queue and adds it nowhere when the types differ', () => {
    const s = service(['nrs_policies=tbf reg jobid', 'nrs_policies=tbf hp nid'])
    const before = rulesOf(s)
    for (const conditions of ['jobid={x}', 'nid={0@lo}']) {
      expect(write(s, `nrs_tbf_rule=start x ${conditions} rate=5`), conditions).toBe('EINVAL')
      expect(rulesOf(s)).toEqual(before)
    }
    expect(write(s, 'nrs_tbf_rule=reg start x jobid={x} rate=5')).toBe('ok')
    expect(write(s, 'nrs_tbf_rule=hp start x nid={0@lo} rate=5')).toBe('ok')
    // One more field in one queue is another type as well.
    const wider = service(['nrs_policies=tbf reg jobid', 'nrs_policies=tbf hp jobid+nid'])
    expect(write(wider, 'nrs_tbf_rule=start x jobid={x} rate=5')).toBe('EINVAL')
    // The order in which a type was spelt is none of its parts.
    const spelt = service(['nrs_policies=tbf reg nid+jobid', 'nrs_policies=tbf hp jobid+nid'])
    expect(write(spelt, 'nrs_tbf_rule=start x jobid={x} rate=5')).toBe('ok')
  })

  it('cannot be read while only the regular queue runs TBF, and has no regular rules while only hp does', () => {
    expect(rulesOf(service())).toBe('ENODEV')
    const s = service(['nrs_policies=tbf reg jobid', 'nrs_tbf_rule=reg start a jobid={a} rate=5'])
    expect(rulesOf(s)).toBe('ENODEV')
    expect(write(s, 'nrs_tbf_rule=start b jobid={b} rate=5')).toBe('EINVAL')
    // Carried out on CPT 0 reg, then refused by hp.
    expect(write(s, 'nrs_tbf_rule=stop a')).toBe('ENODEV')
    expect(write(s, 'nrs_policies=tbf hp jobid')).toBe('ok')
    expect(rulesOf(s)).toMatchObject({
      'reg.0': ['default * 10000, ref 0'],
      'reg.1': ['a jobid={a} 5, ref 0', 'default * 10000, ref 0'],
    })
    const hpOnly = service(['nrs_policies=tbf hp nid'])
    const text = hpOnly.readRules()
    expect(text.ok && text.value).toBe(
      'regular_requests:\nhigh_priority_requests:\nCPT 0:\ndefault * 10000, ref 0\nCPT 1:\ndefault * 10000, ref 0\n',
    )
  })
})

describe('nrs_policies', () => {
  it('prints every policy of both queues, TBF with its type', () => {
    const s = service(['nrs_policies=tbf jobid'])
    const { policies } = parseNrsPolicies(s.readPolicies())
    expect(policies.map((p) => `${p.queue} ${p.name} ${p.state} ${p.arg}`.trim())).toEqual(
      ['reg', 'hp'].flatMap((q) => [
        `${q} fifo started`,
        `${q} crrn stopped`,
        `${q} orr stopped`,
        `${q} trr stopped`,
        `${q} tbf started jobid`,
        `${q} delay stopped`,
      ]),
    )
    expect(policies.filter((p) => p.fallback).map((p) => p.name)).toEqual(['fifo', 'fifo'])
  })

  it('loses all rules with the type and keeps them when nothing changes', () => {
    const s = service(['nrs_policies=tbf jobid', 'nrs_tbf_rule=start a jobid={a} rate=5'])
    const before = rulesOf(s)
    expect(write(s, 'nrs_policies=tbf jobid')).toBe('ok')
    expect(rulesOf(s)).toEqual(before)
    expect(write(s, 'nrs_policies=tbf jobid+nid')).toBe('ok')
    expect(rulesOf(s)).toMatchObject({ 'reg.0': ['default * 10000, ref 0'], 'hp.1': ['default * 10000, ref 0'] })
    expect(policyOf(s)).toMatchObject({ name: 'tbf', arg: 'jobid+nid' })
  })

  it('counts what waits and what is in service, over all CPTs', () => {
    const s = service(['nrs_policies=tbf jobid', 'nrs_tbf_rule=start a jobid={a} rate=1'])
    for (let i = 0; i < 5; i++) for (const cpt of [0, 1]) s.enqueue(0, cpt, 'reg', of('a'))
    for (const cpt of [0, 1]) while (s.dequeue(0, cpt));
    expect(policyOf(s)).toMatchObject({ name: 'tbf', queued: 4, active: 6 })
    for (let i = 0; i < 3; i++) s.finished(0, 'reg')
    expect(policyOf(s)).toMatchObject({ queued: 4, active: 3 })
    // Each CPT gives the job the whole rate.
    expect([s.wakeAt(0), s.wakeAt(1), s.queued]).toEqual([1e9, 1e9, 4])
  })

  it('limits a job once on each queue, high priority served first', () => {
    const s = service(['nrs_policies=tbf jobid', 'nrs_tbf_rule=start a jobid={a} rate=1'])
    for (let i = 0; i < 5; i++) for (const queue of ['reg', 'hp'] as const) s.enqueue(0, 0, queue, of('a'))
    const queues: Queue[] = []
    for (let r = s.dequeue(0, 0); r; r = s.dequeue(0, 0)) queues.push(r.queue)
    expect(queues).toEqual(['hp', 'hp', 'hp', 'reg', 'reg', 'reg'])
  })

  it('releases all that waits at once under fifo, without a token', () => {
    const s = service(['nrs_policies=tbf jobid', 'nrs_tbf_rule=start a jobid={a} rate=1'])
    for (let i = 0; i < 103; i++) s.enqueue(0, 0, 'reg', of('a'))
    for (let i = 0; i < 3; i++) expect(s.dequeue(0, 0)).toBeDefined()
    expect(s.dequeue(0, 0)).toBeUndefined()
    expect(write(s, 'nrs_policies=fifo')).toBe('ok')
    expect(s.readPolicies()).toContain('  - name: tbf jobid\n    state: stopping\n    fallback: no\n    queued: 100 ')
    s.enqueue(0, 0, 'reg', of('late'))
    expect(s.wakeAt(0)).toBe(0)
    const released: string[] = []
    for (let r = s.dequeue(0, 0); r; r = s.dequeue(0, 0)) released.push(r.request.jobId)
    expect(released).toEqual([...Array<string>(100).fill('a'), 'late'])
    expect(s.readPolicies()).not.toContain('stopping')
    expect([s.queued, s.wakeAt(0)]).toEqual([0, Infinity])
    expect(policyOf(s)).toMatchObject({ name: 'fifo', queued: 0 })
  })

  it('is EAGAIN while TBF is stopping, and no RPC is lost by trying', () => {
    const s = service(['nrs_policies=tbf jobid', 'nrs_tbf_rule=start a jobid={a} rate=1'])
    for (let i = 0; i < 10; i++) s.enqueue(0, 0, 'reg', of('a'))
    while (s.dequeue(0, 0));
    expect(write(s, 'nrs_policies=fifo')).toBe('ok')
    expect(write(s, 'nrs_policies=tbf nid')).toBe('EAGAIN')
    expect(write(s, 'nrs_policies=fifo')).toBe('ok')
    expect(write(s, 'nrs_tbf_rule=reg stop a')).toBe('EAGAIN')
    expect(write(s, 'nrs_tbf_rule=reg start b jobid={b} rate=1')).toBe('EINVAL')
    expect(s.queued).toBe(7)
    for (let i = 0; i < 7; i++) expect(s.dequeue(0, 0)).toBeDefined()
    expect(write(s, 'nrs_policies=tbf nid')).toBe('ok')
  })

  it('switches its type under load without losing what waited', () => {
    const s = service(['nrs_policies=tbf jobid', 'nrs_tbf_rule=start a jobid={a} rate=1'])
    for (let i = 0; i < 10; i++) s.enqueue(0, 1, 'reg', of('a'))
    expect(write(s, 'nrs_policies=tbf nid')).toBe('ok')
    s.enqueue(0, 1, 'reg', of('b'))
    expect(s.queued).toBe(11)
    for (const policy of ['tbf jobid', 'tbf reg jobid+nid', 'fifo']) {
      expect(write(s, `nrs_policies=${policy}`), policy).toBe('EAGAIN')
    }
    const released: string[] = []
    for (let r = s.dequeue(0, 1); r; r = s.dequeue(0, 1)) released.push(r.request.jobId)
    expect(released).toEqual([...Array<string>(10).fill('a'), 'b'])
  })

  it('reads types joined by +, an empty name ending the list', () => {
    for (const type of ['jobid', 'nid', 'jobid+nid', 'nid+jobid', 'nid+nid', 'nid+', 'nid++nonsense']) {
      expect(write(service(), `nrs_policies=tbf ${type}`), type).toBe('ok')
    }
    for (const type of ['', ' nid', '+nid', 'nid ', 'nid\n', 'NID', 'jobid+nid+jobid+', 'toString']) {
      expect(write(service(), `nrs_policies=tbf ${type}`), type).toBe('EINVAL')
    }
    for (const policy of ['', ' tbf', 'abc', 'FIFO', 'fifo\n']) {
      expect(write(service(), `nrs_policies=${policy}`), policy).toBe('ENOENT')
    }
    expect(write(service(), `nrs_policies=${'x'.repeat(16)}`)).toBe('EINVAL')
  })
})
