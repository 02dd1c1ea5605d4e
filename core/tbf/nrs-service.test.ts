import { describe, expect, it } from 'vitest'
import { randomStream } from '../base/random.ts'
import type { Errno } from '../lustre/errno.ts'
import { parseNrsPolicies, type PolicyStatus, type Queue } from '../lustre/nrs-policies.ts'
import { parseNrsTbfRule } from '../lustre/nrs-tbf-rule.ts'
import { profile } from '../lustre/profile.ts'
import { RELEASES, type Release } from '../lustre/release.ts'
import { NrsService, type ServiceOptions } from './nrs-service.ts'
import { OTHER_POLICIES } from './policy-command.ts'
import { POLICY_PARAMETERS, type PolicyParameterName } from './policy-parameters.ts'
import type { ScheduledRequest } from './scheduler.ts'
import { loadedModule } from './tbf-module.ts'

const S = 1e9
const of = (jobId: string, more: Partial<ScheduledRequest> = {}): ScheduledRequest => ({ jobId, nid: '0@lo', ...more })
type Service = NrsService<ScheduledRequest>

function write(s: Service, text: string): 'ok' | Errno {
  const at = text.indexOf('=')
  const name = text.slice(0, at)
  const value = text.slice(at + 1)
  const r =
    name === 'nrs_policies'
      ? s.writePolicies(value)
      : name === 'nrs_tbf_rule'
        ? s.writeRule(value)
        : s.writePolicyParameter(name as PolicyParameterName, value)
  return r.ok ? 'ok' : r.error
}

/** A service with 2 CPTs after the given writes, `param=value` each; every one must be accepted. */
function service(
  writes: readonly string[] = [],
  options: Partial<ServiceOptions> & { release?: Release } = {},
): Service {
  const s: Service = new NrsService<ScheduledRequest>({
    cpts: 2,
    hp: true,
    profile: profile(options.release ?? 'dev'),
    ...options,
  })
  for (const w of writes) expect(write(s, w), w).toBe('ok')
  return s
}

/** `reg.0: [lines]` of the rules, or the errno of reading them. */
function rulesOf(s: Service): Record<string, string[]> | Errno {
  const text = s.readRules()
  if (!text.ok) return text.error
  const out: Record<string, string[]> = {}
  for (const r of parseNrsTbfRule(text.value).rules)
    (out[`${r.queue}.${r.cpt}`] ??= []).push(`${r.name} ${r.conditions} ${r.rate}, ref ${r.ref}`)
  return out
}

function policiesOf(s: Service, queue: Queue = 'reg'): PolicyStatus[] {
  const text = s.readPolicies()
  if (!text.ok) throw new Error(text.error)
  const { policies, skipped } = parseNrsPolicies(text.value)
  expect(skipped).toEqual([])
  return policies.filter((p) => p.queue === queue)
}
const policyOf = (s: Service, name: string, queue: Queue = 'reg'): Partial<PolicyStatus> | undefined => {
  const p = policiesOf(s, queue).find((x) => x.name === name)
  return p && { state: p.state, arg: p.arg, queued: p.queued, active: p.active }
}

/** Dequeues all that can be served on a CPT now; each RPC is finished at once. */
function drain(s: Service, now: number, cpt = 0): string[] {
  const out: string[] = []
  for (let d = s.dequeue(now, cpt); d; d = s.dequeue(now, cpt)) {
    out.push(d.request.jobId)
    s.finished(cpt, d.queue, d.policy)
  }
  return out
}

const fill = (s: Service, n: number, jobId: string, queue: Queue = 'reg', cpt = 0): void => {
  for (let i = 0; i < n; i++) s.enqueue(0, cpt, queue, of(jobId))
}
const LIMITED = ['nrs_policies=tbf jobid', 'nrs_tbf_rule=start a jobid={a} rate=1']

describe('nrs_tbf_rule', () => {
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
    // One more field in one queue makes another type as well; the order of a type's fields does not.
    const wider = service(['nrs_policies=tbf reg jobid', 'nrs_policies=tbf hp jobid+nid'])
    expect(write(wider, 'nrs_tbf_rule=start x jobid={x} rate=5')).toBe('EINVAL')
    const spelt = service(['nrs_policies=tbf reg nid+jobid', 'nrs_policies=tbf hp jobid+nid'])
    expect(write(spelt, 'nrs_tbf_rule=start x jobid={x} rate=5')).toBe('ok')
  })

  it('cannot be read while only the regular queue runs TBF, and has no regular rules while only hp does', () => {
    expect(rulesOf(service())).toBe('ENODEV')
    const s = service(['nrs_policies=tbf reg jobid', 'nrs_tbf_rule=reg start a jobid={a} rate=5'])
    expect(rulesOf(s)).toBe('ENODEV')
    expect(write(s, 'nrs_tbf_rule=start b jobid={b} rate=5')).toBe('EINVAL')
    // Executed on CPT 0 reg, then refused by hp.
    expect(write(s, 'nrs_tbf_rule=stop a')).toBe('ENODEV')
    expect(write(s, 'nrs_policies=tbf hp jobid')).toBe('ok')
    expect(rulesOf(s)).toMatchObject({
      'reg.0': ['default * 10000, ref 0'],
      'reg.1': ['a jobid={a} 5, ref 0', 'default * 10000, ref 0'],
    })
    expect(service(['nrs_policies=tbf hp nid']).readRules()).toEqual({
      ok: true,
      value:
        'regular_requests:\nhigh_priority_requests:\nCPT 0:\ndefault * 10000, ref 0\nCPT 1:\ndefault * 10000, ref 0\n',
    })
  })

  it('takes rate and depth from the module when a rule is started, and not later', () => {
    const module = loadedModule()
    const deep = loadedModule()
    const s = service(['nrs_policies=tbf jobid', 'nrs_tbf_rule=start old jobid={old}'], { module, cpts: 1, hp: false })
    module.rate = 7
    module.depth = 1
    expect(write(s, 'nrs_tbf_rule=start new jobid={new}')).toBe('ok')
    expect(rulesOf(s)).toEqual({
      'reg.0': ['new jobid={new} 7, ref 0', 'old jobid={old} 10000, ref 0', 'default * 10000, ref 0'],
    })
    fill(s, 5, 'new')
    expect(drain(s, 0)).toEqual(['new'])
    const before = service(['nrs_policies=tbf jobid', 'nrs_tbf_rule=start old jobid={old}'], { module: deep, cpts: 1 })
    deep.depth = 1
    fill(before, 5, 'old')
    expect(drain(before, 0)).toEqual(['old', 'old', 'old'])
  })

  it('of 2.12 keeps 15 bytes of a name, which the whole name then does not find', () => {
    const s = service(['nrs_policies=tbf uid'], { release: '2.12', cpts: 1, hp: false })
    const start = 'nrs_tbf_rule=start averyveryverylongname uid={1}'
    expect([write(s, start), write(s, start)]).toEqual(['ok', 'ok'])
    expect(write(s, 'nrs_tbf_rule=change averyveryverylongname rate=5')).toBe('ENOENT')
    expect(write(s, 'nrs_tbf_rule=stop averyveryverylo')).toBe('ok')
    expect(rulesOf(s)).toEqual({ 'reg.0': ['averyveryverylo {1} 10000, ref 0', 'default {*} 10000, ref 0'] })
  })
})

describe('nrs_policies', () => {
  it('is printed as servers print it, to the byte', () => {
    const s = service(['nrs_policies=tbf reg jobid+opcode', 'nrs_tbf_rule=reg start a jobid={a} rate=1'])
    for (const cpt of [0, 1]) fill(s, 5, 'a', 'reg', cpt)
    for (const cpt of [0, 1]) while (s.dequeue(0, cpt));
    const one = (name: string, state: string, queued = 0, active = 0): string =>
      `  - name: ${name}\n    state: ${state}\n    fallback: ${name === 'fifo' ? 'yes' : 'no'}\n` +
      `    queued: ${String(queued).padEnd(20)}\n    active: ${String(active).padEnd(20)}\n\n`
    const rest = ['crrn', 'orr', 'trr'].map((n) => one(n, 'stopped')).join('')
    expect(s.readPolicies()).toEqual({
      ok: true,
      value:
        `\nregular_requests:\n${one('fifo', 'started')}${rest}${one('tbf jobid+opcode', 'started', 4, 6)}${one('delay', 'stopped')}` +
        `high_priority_requests:\n${one('fifo', 'started')}${rest}${one('tbf', 'stopped')}${one('delay', 'stopped')}`,
    })
  })

  it('has orr and trr on ost_io alone', () => {
    const other = service([], { policies: OTHER_POLICIES, hp: false })
    expect(policiesOf(other).map((p) => p.name)).toEqual(['fifo', 'crrn', 'tbf', 'delay'])
    expect(write(other, 'nrs_policies=orr')).toBe('ENOENT')
    expect(write(other, 'nrs_policies=tbf hp nid')).toBe('ENODEV')
    expect(write(other, 'nrs_policies=tbf nid')).toBe('ok')
    expect(rulesOf(other)).toEqual({ 'reg.0': ['default * 10000, ref 0'], 'reg.1': ['default * 10000, ref 0'] })
  })

  it('loses all rules with the type and keeps them when nothing changes', () => {
    const s = service(LIMITED)
    const before = rulesOf(s)
    expect(write(s, 'nrs_policies=tbf jobid')).toBe('ok')
    expect(rulesOf(s)).toEqual(before)
    expect(write(s, 'nrs_policies=tbf jobid+nid')).toBe('ok')
    expect(rulesOf(s)).toMatchObject({ 'reg.0': ['default * 10000, ref 0'], 'hp.1': ['default * 10000, ref 0'] })
    expect(policyOf(s, 'tbf')).toMatchObject({ state: 'started', arg: 'jobid+nid' })
  })

  it('puts another primary policy in the place of the one that runs', () => {
    const s = service([...LIMITED, 'nrs_policies=orr'])
    expect([policyOf(s, 'tbf'), policyOf(s, 'orr')]).toMatchObject([
      { state: 'stopped', arg: '' },
      { state: 'started' },
    ])
    expect(rulesOf(s)).toBe('ENODEV')
    expect(policyOf(service([...LIMITED, 'nrs_policies=orr'], { release: '2.15' }), 'tbf')).toMatchObject({
      state: 'stopped',
      arg: 'jobid',
    })
  })

  it('leaves the head at which an unknown type was refused without TBF, and the others as they were', () => {
    const s = service(LIMITED)
    expect(write(s, 'nrs_policies=tbf abc')).toBe('EINVAL')
    expect(rulesOf(s)).toMatchObject({ 'hp.0': ['a jobid={a} 1, ref 0', 'default * 10000, ref 0'] })
    // The regular queue is read up to its first CPT without TBF.
    expect(Object.keys(rulesOf(s))).toEqual(['hp.0', 'hp.1'])
    // CPT 0 has no argument now and CPT 1 still has one.
    expect(s.readPolicies()).toEqual({ ok: false, error: 'EINVAL' })
    expect(write(s, 'nrs_policies=tbf nid')).toBe('ok')
    expect(policyOf(s, 'tbf')).toMatchObject({ state: 'started', arg: 'nid' })

    const old = service(LIMITED, { release: '2.15' })
    expect(write(old, 'nrs_policies=tbf abc')).toBe('ENOTSUPP')
    expect(policyOf(old, 'tbf')).toMatchObject({ state: 'stopped', arg: 'jobid' })
  })

  it('refuses arguments of 16 bytes before anything is stopped, where the release looks at them', () => {
    const long = 'nid+opcode+jobid'
    for (const release of RELEASES) {
      const running = service(['nrs_policies=tbf nid', 'nrs_tbf_rule=start a nid={*@tcp}'], { release })
      const before = rulesOf(running)
      expect(write(running, `nrs_policies=tbf ${long}`), release).toBe('EINVAL')
      expect(rulesOf(running), release).toEqual(before)
      const isOld = release === '2.12' || release === '2.15'
      expect(write(service([], { release }), `nrs_policies=tbf ${long}`), release).toBe(isOld ? 'ENOTSUPP' : 'EINVAL')
      expect(write(service([], { release }), `nrs_policies=fifo ${long}`), release).toBe(isOld ? 'ok' : 'EINVAL')
    }
  })
})

describe('leaving TBF', () => {
  it('releases all that waits at once since 2.16, and is done when it has been served', () => {
    const s = service(LIMITED, { cpts: 1 })
    fill(s, 103, 'a')
    const first = [s.dequeue(0, 0), s.dequeue(0, 0), s.dequeue(0, 0)]
    expect(s.dequeue(0, 0)).toBeUndefined()
    expect(write(s, 'nrs_policies=fifo')).toBe('ok')
    expect(policyOf(s, 'tbf')).toEqual({ state: 'stopping', arg: 'jobid', queued: 100, active: 3 })
    s.enqueue(0, 0, 'reg', of('late'))
    expect(s.wakeAt(0)).toBe(0)
    expect(drain(s, 0)).toEqual([...Array<string>(100).fill('a'), 'late'])
    // The RPC in service still holds it.
    expect(policyOf(s, 'tbf')).toEqual({ state: 'stopping', arg: 'jobid', queued: 0, active: 3 })
    for (const d of first) if (d) s.finished(0, d.queue, d.policy)
    expect(policyOf(s, 'tbf')).toEqual({ state: 'stopped', arg: '', queued: 0, active: 0 })
    expect([s.queued, s.wakeAt(0)]).toEqual([0, Infinity])
  })

  it('cannot be read of while one CPT is done and another is not, where a policy forgets its argument', () => {
    const s = service(LIMITED)
    fill(s, 10, 'a')
    expect(write(s, 'nrs_policies=fifo')).toBe('ok')
    expect(s.readPolicies()).toEqual({ ok: false, error: 'EINVAL' })
    expect(drain(s, 0)).toHaveLength(10)
    expect(policyOf(s, 'tbf')).toEqual({ state: 'stopped', arg: '', queued: 0, active: 0 })
  })

  it('goes at the pace of its rules up to 2.15', () => {
    const s = service(LIMITED, { release: '2.15' })
    fill(s, 11, 'a')
    expect(drain(s, 0)).toHaveLength(3)
    expect(write(s, 'nrs_policies=fifo')).toBe('ok')
    s.enqueue(0, 0, 'reg', of('late'))
    expect(drain(s, 0)).toEqual(['late'])
    for (let second = 1; second <= 8; second++) {
      expect(policyOf(s, 'tbf')).toMatchObject({ state: 'stopping', queued: 9 - second })
      expect(s.wakeAt(0)).toBe(second * S)
      expect(drain(s, second * S)).toEqual(['a'])
    }
    expect(policyOf(s, 'tbf')).toEqual({ state: 'stopped', arg: 'jobid', queued: 0, active: 0 })
  })

  it('is EAGAIN for whatever is written to it or read of it meanwhile, and no RPC is lost by trying', () => {
    const s = service(LIMITED)
    fill(s, 10, 'a')
    drain(s, 0)
    expect(write(s, 'nrs_policies=fifo')).toBe('ok')
    expect(write(s, 'nrs_policies=tbf nid')).toBe('EAGAIN')
    expect(write(s, 'nrs_policies=fifo')).toBe('ok')
    expect(write(s, 'nrs_tbf_rule=reg stop a')).toBe('EAGAIN')
    expect(write(s, 'nrs_tbf_rule=reg start b jobid={b} rate=1')).toBe('EINVAL')
    expect(rulesOf(s)).toBe('EAGAIN')
    expect(s.queued).toBe(7)
    expect(drain(s, 0)).toHaveLength(7)
    expect(write(s, 'nrs_policies=tbf nid')).toBe('ok')
  })

  it('for another type loses nothing since 2.16: what waited goes first, without tokens', () => {
    const s = service(LIMITED)
    fill(s, 10, 'a', 'reg', 1)
    for (const type of ['nid', 'uid', 'jobid']) expect(write(s, `nrs_policies=tbf ${type}`), type).toBe('ok')
    s.enqueue(0, 1, 'reg', of('b'))
    expect(policyOf(s, 'tbf')).toMatchObject({ state: 'started', arg: 'jobid', queued: 11 })
    expect(drain(s, 0, 1)).toEqual([...Array<string>(10).fill('a'), 'b'])
  })

  it('for another type is EBUSY when what it holds does not leave in time', () => {
    let held = 0
    const s = service(LIMITED, { drainsInTime: (_, n) => ((held = n), n < 7) })
    fill(s, 10, 'a')
    drain(s, 0)
    expect(write(s, 'nrs_policies=tbf nid')).toBe('EBUSY')
    expect(held).toBe(7)
    expect(policyOf(s, 'tbf')).toMatchObject({ state: 'stopping', queued: 7 })
    expect(write(s, 'nrs_policies=tbf nid')).toBe('EAGAIN')
    s.enqueue(0, 0, 'reg', of('b'))
    expect(drain(s, 0)).toEqual([...Array<string>(7).fill('a'), 'b'])
    expect(write(s, 'nrs_policies=tbf nid')).toBe('ok')
  })

  it('for another type under load hangs for good up to 2.15, as it was seen on a server', () => {
    const s = service(['nrs_policies=tbf jobid', 'nrs_tbf_rule=start a jobid={a} rate=5'], { release: '2.15', cpts: 1 })
    fill(s, 11, 'a')
    drain(s, 0)
    expect(write(s, 'nrs_policies=tbf nid')).toBe('ok')
    expect(policyOf(s, 'tbf')).toEqual({ state: 'started', arg: 'nid', queued: 8, active: 0 })
    expect(rulesOf(s)).toEqual({ 'reg.0': ['default {*} 10000, ref 0'], 'hp.0': ['default {*} 10000, ref 0'] })
    // New RPCs are served, the eight lost ones never.
    s.enqueue(0, 0, 'reg', of('b'))
    expect(drain(s, 3600 * S)).toEqual(['b'])
    expect(write(s, 'nrs_tbf_rule=start x nid={*@lo *@tcp} rate=5000')).toBe('ok')
    expect(rulesOf(s)).toMatchObject({ 'reg.0': ['x {*@lo *@tcp} 5000, ref 0', 'default {*} 10000, ref 1'] })
    expect(write(s, 'nrs_policies=fifo')).toBe('ok')
    expect(drain(s, 7200 * S)).toEqual([])
    expect(policyOf(s, 'tbf')).toEqual({ state: 'stopping', arg: 'nid', queued: 8, active: 0 })
    expect(write(s, 'nrs_policies=tbf jobid')).toBe('EAGAIN')
    expect(rulesOf(s)).toBe('EAGAIN')
    expect(write(s, 'nrs_tbf_rule=start y jobid={y}')).toBe('EINVAL')
    expect(write(s, 'nrs_policies=orr')).toBe('ok')
    expect(policyOf(s, 'tbf', 'hp')).toEqual({ state: 'stopped', arg: 'nid', queued: 0, active: 0 })
    // On an idle service, the same change is harmless.
    expect(write(service(LIMITED, { release: '2.15' }), 'nrs_policies=tbf nid')).toBe('ok')
  })

  it.each(RELEASES)('and entering it at random loses and doubles no RPC of %s but those', (release) => {
    const random = randomStream(7, `churn ${release}`)
    const s = service([], { release })
    const writes = [
      'fifo',
      'tbf jobid',
      'tbf nid',
      'tbf reg uid',
      'tbf hp',
      'crrn',
      'orr',
      'delay',
      'tbf abc',
      'trr',
      'fifo',
    ]
    const served: number[] = []
    const busy: { cpt: number; queue: Queue; policy: NonNullable<ReturnType<Service['dequeue']>>['policy'] }[] = []
    let sent = 0
    let now = 0
    const take = (): void => {
      const cpt = random.below(2)
      const d = s.dequeue(now, cpt)
      if (!d) return
      served.push(Number(d.request.jobId))
      busy.push({ cpt, queue: d.queue, policy: d.policy })
    }
    const finish = (): void => {
      const b = busy.splice(random.below(busy.length), 1)[0]
      if (b) s.finished(b.cpt, b.queue, b.policy)
    }
    for (let i = 0; i < 4000; i++) {
      const kind = random.below(40)
      if (kind === 0) write(s, `nrs_policies=${writes[random.below(writes.length)] as string}`)
      else if (kind === 1)
        write(
          s,
          `nrs_tbf_rule=start r${i} ${['jobid={*}', 'nid={*@lo}', 'uid={1}'][i % 3] as string} rate=${1 + random.below(50)}`,
        )
      else if (kind < 20) {
        const more = { opcode: 'ost_read', object: `o${random.below(3)}`, target: 't', uid: random.below(2) }
        s.enqueue(now, random.below(2), random.below(4) === 0 ? 'hp' : 'reg', of(String(sent++), more))
      } else if (kind < 32) take()
      else if (kind < 38) finish()
      else now += random.below(S)
    }
    write(s, 'nrs_policies=fifo')
    now += 1e6 * S
    for (let i = 0; i < 20_000; i++) {
      take()
      finish()
      now += S
    }
    expect(new Set(served).size).toBe(served.length)
    expect(served.length + s.queued).toBe(sent)
    if (profile(release).rules.waitsOnRestart) expect(s.queued).toBe(0)
  })
})

describe('the two queues', () => {
  const order = (s: Service, n: number): string =>
    Array.from({ length: n }, () => s.dequeue(0, 0)?.queue ?? '-')
      .map((q) => q.slice(0, 1))
      .join('')

  it('limit a job once each, high priority served first', () => {
    const s = service(LIMITED)
    for (const queue of ['reg', 'hp'] as const) fill(s, 5, 'a', queue)
    expect(order(s, 7)).toBe('hhhrrr-')
  })

  it('take ten high-priority RPCs for each regular one, or as many as the ratio says', () => {
    const s = service()
    for (const queue of ['reg', 'hp'] as const) fill(s, 100, 'a', queue)
    expect(order(s, 23)).toBe('hhhhhhhhhhrhhhhhhhhhhrh')
    s.highPriorityRatio = 2
    expect(order(s, 7)).toBe('hrhhrhh')
    s.highPriorityRatio = 0
    expect(order(s, 3)).toBe('rrr')
  })

  it('starve neither where the other has nothing to give', () => {
    const s = service(['nrs_policies=tbf reg jobid', 'nrs_tbf_rule=reg start a jobid={a} rate=1'])
    fill(s, 9, 'a')
    fill(s, 30, 'x', 'hp')
    // Three regular ones have tokens; high-priority ones continue beyond their ratio.
    expect(order(s, 34)).toBe(`${'hhhhhhhhhhr'.repeat(3)}-`.replace(/-$/, '-'))
    fill(s, 5, 'x', 'hp')
    s.highPriorityRatio = 0
    expect(order(s, 6)).toBe('hhhhh-')
  })
})

describe('the parameters of the other policies', () => {
  const read = (s: Service, name: PolicyParameterName): string => {
    const r = s.readPolicyParameter(name)
    return r.ok ? r.value : r.error
  }

  it('have the defaults of a start, to the byte', () => {
    expect(read(service(['nrs_policies=crrn']), 'nrs_crrn_quantum')).toBe('reg_quantum:8    \nhp_quantum:8    \n')
    const orr = service(['nrs_policies=orr'])
    expect(read(orr, 'nrs_orr_quantum')).toBe('reg_quantum:256  \nhp_quantum:256  \n')
    expect(read(orr, 'nrs_orr_offset_type')).toBe('reg_offset_type:physical\nhp_offset_type:physical\n')
    expect(read(orr, 'nrs_orr_supported')).toBe('reg_supported:reads\nhp_supported:reads\n')
    expect(read(orr, 'nrs_trr_quantum')).toBe('ENODEV')
    const delay = service(['nrs_policies=delay'])
    expect(read(delay, 'nrs_delay_min')).toBe('reg_delay_min:5    \nhp_delay_min:5    \n')
    expect(read(delay, 'nrs_delay_max')).toBe('reg_delay_max:300  \nhp_delay_max:300  \n')
    expect(read(delay, 'nrs_delay_pct')).toBe('reg_delay_pct:100\nhp_delay_pct:100\n')
  })

  it('are ENODEV while the policy does not run on the last queue, but delay is empty', () => {
    const s = service(['nrs_policies=crrn reg'])
    expect(read(s, 'nrs_crrn_quantum')).toBe('ENODEV')
    expect(read(s, 'nrs_delay_pct')).toBe('')
    expect(read(service(['nrs_policies=crrn hp']), 'nrs_crrn_quantum')).toBe('hp_quantum:8    \n')
    expect(read(service(['nrs_policies=crrn'], { hp: false }), 'nrs_crrn_quantum')).toBe('reg_quantum:8    \n')
  })

  it('are written for both queues or for one, and forgotten by the next start', () => {
    const s = service(['nrs_policies=crrn', 'nrs_crrn_quantum=64', 'nrs_crrn_quantum=hp_quantum:32'])
    expect(read(s, 'nrs_crrn_quantum')).toBe('reg_quantum:64   \nhp_quantum:32   \n')
    expect(write(s, 'nrs_crrn_quantum=reg_quantum:1 hp_quantum:2')).toBe('ok')
    expect(read(s, 'nrs_crrn_quantum')).toBe('reg_quantum:1    \nhp_quantum:2    \n')
    expect([write(s, 'nrs_policies=fifo'), write(s, 'nrs_policies=crrn')]).toEqual(['ok', 'ok'])
    expect(read(s, 'nrs_crrn_quantum')).toBe('reg_quantum:8    \nhp_quantum:8    \n')
  })

  it('refuse invalid values', () => {
    const s = service(['nrs_policies=crrn'])
    for (const v of ['0', '65536', '-1', 'x', '', 'hp_quantum:0', 'reg_quantum:'])
      expect(write(s, `nrs_crrn_quantum=${v}`), v).toBe('EINVAL')
    expect(write(s, 'nrs_orr_quantum=64')).toBe('ENODEV')
    expect(write(service(['nrs_policies=crrn'], { hp: false }), 'nrs_crrn_quantum=hp_quantum:8')).toBe('ENODEV')
    const orr = service(['nrs_policies=orr'])
    expect([write(orr, 'nrs_orr_offset_type=logical'), write(orr, 'nrs_orr_offset_type=both')]).toEqual([
      'ok',
      'EINVAL',
    ])
    expect([
      write(orr, 'nrs_orr_supported=hp_supported:reads_and_writes'),
      write(orr, 'nrs_orr_supported=all'),
    ]).toEqual(['ok', 'EINVAL'])
    expect(read(orr, 'nrs_orr_supported')).toBe('reg_supported:reads\nhp_supported:reads_and_writes\n')
    const delay = service(['nrs_policies=delay'])
    expect([
      write(delay, 'nrs_delay_min=301'),
      write(delay, 'nrs_delay_max=4'),
      write(delay, 'nrs_delay_pct=101'),
    ]).toEqual(['EINVAL', 'EINVAL', 'EINVAL'])
    expect([write(delay, 'nrs_delay_min=0'), write(delay, 'nrs_delay_pct=0')]).toEqual(['ok', 'ok'])
  })

  it('are those of the policies that a service has', () => {
    expect(service().policyParameters).toEqual(Object.keys(POLICY_PARAMETERS))
    expect(service([], { policies: OTHER_POLICIES }).policyParameters).toEqual([
      'nrs_crrn_quantum',
      'nrs_delay_min',
      'nrs_delay_max',
      'nrs_delay_pct',
    ])
  })
})

describe('the other policies', () => {
  it('crrn serves clients in turn, a quantum each', () => {
    const s = service(['nrs_policies=crrn', 'nrs_crrn_quantum=2'])
    for (const nid of ['1', '2', '3'])
      for (let i = 0; i < 4; i++) s.enqueue(0, 0, 'reg', { jobId: nid, nid: `10.0.0.${nid}@tcp` })
    expect(drain(s, 0).join('')).toBe('112233112233')
    expect(policyOf(s, 'crrn')).toMatchObject({ state: 'started', queued: 0 })
  })

  it('orr and trr take turns between objects and targets with the RPCs they support, the fallback serves the rest', () => {
    const s = service(['nrs_policies=orr', 'nrs_orr_quantum=1'])
    for (const [job, object, opcode] of [
      ['1', 'a', 'ost_read'],
      ['2', 'a', 'ost_read'],
      ['3', 'b', 'ost_read'],
      ['w', 'b', 'ost_write'],
      ['x', '', ''],
    ]) {
      s.enqueue(0, 0, 'reg', of(job as string, object ? { object, opcode: opcode as string } : {}))
    }
    expect([policyOf(s, 'orr'), policyOf(s, 'fifo')]).toMatchObject([{ queued: 3 }, { queued: 2 }])
    expect(drain(s, 0).join('')).toBe('132wx')
    const trr = service(['nrs_policies=trr', 'nrs_trr_quantum=1', 'nrs_trr_supported=reads_and_writes'])
    for (const [job, target] of [
      ['1', 'a'],
      ['2', 'a'],
      ['3', 'b'],
    ]) {
      trr.enqueue(0, 0, 'reg', of(job as string, { target: target as string, opcode: 'ost_write' }))
    }
    expect(drain(trr, 0).join('')).toBe('132')
  })

  it('delay holds each RPC for its bounds, and a share of them', () => {
    const s = service(['nrs_policies=delay', 'nrs_delay_min=2', 'nrs_delay_max=4'])
    fill(s, 300, 'a')
    expect(drain(s, 2 * S - 1)).toEqual([])
    const at = [2, 3, 4].map((t) => drain(s, t * S).length)
    expect(at.reduce((n, x) => n + x)).toBe(300)
    for (const n of at) expect(n).toBeGreaterThan(60)
    expect(write(s, 'nrs_delay_pct=25')).toBe('ok')
    fill(s, 1000, 'b')
    const waiting = policyOf(s, 'delay')?.queued ?? 0
    expect(waiting).toBeGreaterThan(190)
    expect(waiting).toBeLessThan(310)
    expect(drain(s, 0)).toHaveLength(1000 - waiting)
    expect(s.wakeAt(0)).toBeGreaterThanOrEqual(2 * S)
    // After a stop it releases them all.
    expect(write(s, 'nrs_policies=fifo')).toBe('ok')
    expect(drain(s, 0)).toHaveLength(waiting)
    expect(policyOf(s, 'delay')).toMatchObject({ state: 'stopped' })
  })
})
