import { describe, expect, it } from 'vitest'
import { readServer, serviceWith } from '../../tests/rule-oracle.ts'
import type { LintContext } from './lint-codes.ts'
import { lintDraft, lintRules } from './lint.ts'
import type { LiveJob } from './live-job.ts'
import type { StartEdit } from './rule-edit.ts'
import type { ServerRules } from './server-rules.ts'

const server = (policy: string, ...values: string[]): ServerRules => readServer(serviceWith(policy, values))
const job = (jobId: string, more: Partial<LiveJob> = {}): LiveJob => ({ jobId, servers: ['oss01'], rpcs: 5, ...more })
/** Remarks as `code level rule: text`; those only on hp are omitted unless requested. */
function lints(servers: readonly ServerRules[], more: Partial<LintContext> = {}, codes = /./): string[] {
  return lintRules({ servers, service: 'ost_io', ...more })
    .filter((l) => codes.test(l.code) && (l.code !== 'HP_NOT_COVERED' || codes.source !== '.'))
    .map((l) =>
      `${l.code} ${l.level} ${l.rule}: ${l.text}${l.servers ? ` [${l.servers.join(' ')}]` : ''}`.replaceAll(
        '\u202f',
        ' ',
      ),
    )
}

describe('remarks on a list', () => {
  it('name a rule that another one before it makes useless', () => {
    const list = ['reg start narrow jobid={dd.500} rate=5', 'reg start wide jobid={dd.*} rate=9']
    expect(lints([server('tbf jobid', ...list)])).toEqual([
      'SHADOWED watch narrow: never used: wide precedes it and matches everything it matches',
    ])
    expect(lints([server('tbf jobid', ...list.toReversed())])).toEqual([])
    const exact = ['reg start two jobid={b c} rate=5', 'reg start one jobid={a b c} rate=5']
    expect(lints([server('tbf jobid', ...exact)], {}, /SHADOWED/)).toHaveLength(1)
  })

  it('name a rule all of whose live jobs fall under others', () => {
    const list = [
      'reg start late jobid={*.u1} rate=5',
      'reg start dd jobid={dd.*} rate=9',
      'reg start cp jobid={cp.*} rate=9',
    ]
    const jobs = [job('dd.u1'), job('cp.u1'), job('x.u2')]
    expect(lints([server('tbf jobid', ...list)], { jobs }, /SHADOWED/)).toEqual([
      'SHADOWED_LIVE watch late: all 2 live jobs that it matches are matched earlier by dd, cp',
    ])
    expect(lints([server('tbf jobid', ...list)], { jobs: [...jobs, job('y.u1')] }, /SHADOWED/)).toEqual([])
    expect(lints([server('tbf jobid', ...list)], { jobs: [job('dd.u1')] }, /SHADOWED/)).toEqual([
      'SHADOWED_LIVE watch late: dd.u1 is matched earlier by dd',
    ])
  })

  it('name the breadth of a wildcard in live jobs', () => {
    const jobs = Array.from({ length: 41 }, (_, i) => job(`dd.${i}`))
    const wide = server('tbf jobid', 'reg start dd jobid={dd.*} rate=20000')
    expect(lints([wide], { jobs }, /WIDE/)).toEqual(['WIDE watch dd: matches 41 live jobs'])
    expect(lints([wide], { jobs: jobs.slice(0, 3) }, /WIDE/)).toEqual(['WIDE info dd: matches 3 live jobs'])
    expect(lints([wide], { jobs: jobs.slice(0, 1) }, /WIDE/)).toEqual([])
    const unsure = server('tbf', 'reg start dd jobid={dd.*}&uid={500} rate=20000')
    const some = jobs.map((j, i) => (i < 30 ? { ...j, uid: i < 20 ? 500 : 1 } : j))
    expect(lints([unsure], { jobs: some }, /WIDE/)).toEqual([
      'WIDE watch dd: matches 20 live jobs and may match 11 more',
    ])
    expect(lints([unsure], { jobs: jobs.slice(0, 4) }, /WIDE/)).toEqual(['WIDE info dd: may match 4 live jobs'])
  })

  it('name the jobs of the system that a rule would limit, and not those that another rule takes', () => {
    const list = ['reg start spare jobid={cp.0} rate=9000', 'reg start low jobid={*.0} rate=5']
    const jobs = [job('rsync.0', { isSystem: true }), job('cp.0', { isSystem: true }), job('dd.500')]
    expect(lints([server('tbf jobid', list[1]!, list[0]!)], { jobs }, /BINDS_SYSTEM/)).toEqual([
      "BINDS_SYSTEM watch spare: limits cp.0: root's jobs, or ids that may be root's",
      "BINDS_SYSTEM watch low: limits rsync.0: root's jobs, or ids that may be root's",
    ])
    const wide = server('tbf jobid', 'reg start wide jobid={dd.*} rate=5')
    expect(lints([wide], { jobs }, /BINDS_SYSTEM/)).toEqual([])
  })

  it('name rules that limit root with no rule for root before them', () => {
    const watch = (rule: string, what: string) =>
      `ROOT_NOT_EXEMPT watch ${rule}: also limits root: no earlier rule matches ${what}`
    const of = (policy: string, ...v: string[]) => lints([server(policy, ...v)], {}, /ROOT/)
    expect(of('tbf jobid', 'reg start all jobid={*} rate=50')).toEqual([watch('all', "root's jobs (*.0)")])
    expect(of('tbf jobid', 'reg start all jobid={*} rate=50', 'reg start root jobid={*.0} rate=20000')).toEqual([])
    expect(of('tbf uid', 'reg start some uid={0 500} rate=50')).toEqual([watch('some', 'uid 0')])
    expect(of('tbf', 'reg start w opcode={ost_write} rate=50')).toEqual([watch('w', 'uid 0')])
    expect(of('tbf', 'reg start w opcode={ost_write} rate=50', 'reg start root uid={0} rate=20000')).toEqual([])
    // Only for root, not for root, no limit, or a type that cannot distinguish root.
    expect(of('tbf uid', 'reg start root uid={0} rate=50', 'reg start u uid={500} rate=5')).toEqual([])
    expect(of('tbf jobid', 'reg start dd jobid={dd.500} rate=5', 'reg start all jobid={*} rate=10000')).toEqual([])
    expect(of('tbf nid', 'reg start n nid={*@tcp} rate=5')).toEqual([])
  })

  it('name RPCs that a rule does not limit', () => {
    expect(lints([server('tbf jobid', 'reg start a jobid={a} rate=5')], {}, /HP/)).toEqual([
      'HP_NOT_COVERED info a: reg queue only: lock-callback write-back uses hp and is not limited',
    ])
    for (const hp of ['start a jobid={a} rate=5', 'hp start w jobid={*} rate=5']) {
      expect(
        lints([server('tbf jobid', hp, 'reg start b jobid={b} rate=5', 'hp start b jobid={b} rate=5')], {}, /HP/),
      ).toEqual([])
    }
    const mdt = server('tbf opcode', 'reg start meta opcode={mds_reint} rate=5')
    expect(lints([mdt], { service: 'mdt' }, /CREATE/)).toEqual([
      'CREATE_NOT_LIMITED watch meta: opens and creates are sent as ldlm_enqueue: mds_reint limits only mkdir, unlink, rename and setattr',
    ])
    const both = server('tbf opcode', 'reg start meta opcode={mds_reint ldlm_enqueue} rate=5')
    expect(lints([both], { service: 'mdt' }, /CREATE/)).toEqual([])
  })

  it('name an expression that an older release takes for one list', () => {
    const draft = { verb: 'start', name: 'a', conditions: 'jobid={x}&jobid={x y}', rate: 5, queue: 'reg' } as const
    const old = readServer(serviceWith('tbf jobid', [], { release: '2.15' }), 'oss01')
    const now = readServer(serviceWith('tbf jobid', []), 'oss02')
    expect(lintDraft(draft, { servers: [old, now], service: 'ost_io' })).toEqual([
      {
        code: 'ODD',
        level: 'watch',
        rule: 'a',
        text: 'oss01 reads the braces as one list: x}&jobid={x is a single name there',
        servers: ['oss01'],
      },
    ])
  })

  it('name rates that TBF falls short of', () => {
    const of = (rate: number) => lints([server('tbf jobid', `reg start a jobid={a} rate=${rate}`)], {}, /RATE/)
    expect(of(999)).toEqual([])
    expect(of(1000)).toEqual([
      'RATE_LOSES info a: 1000 RPC/s yields about 950: each RPC loses 50 µs to a wake-up, 5 % here',
    ])
    expect(of(10_000)).toEqual([
      'RATE_LOSES watch a: 10 000 RPC/s yields about 6670: each RPC loses 50 µs to a wake-up, 33 % here',
    ])
    expect(of(999_999)).toEqual(['RATE_LOSES info a: no effective limit: one class reaches at most about 19 610 RPC/s'])
  })

  it('name rules without matches, and the burst of an idle realtime rule', () => {
    const list = [{ ...server('tbf jobid', 'reg start a jobid={a} rate=400'), realtime: new Map([['a', true]]) }]
    const unboundMs = (rule: string) => (rule === 'a' ? 72_000 : 10_000_000)
    expect(lints(list, { unboundMs })).toEqual([
      'REALTIME_BURST watch a: realtime: after 60 s idle 24 000 RPCs pass at once, and more after a longer pause',
      'UNBOUND watch a: no class for 72 s: no incoming RPC matches it',
    ])
    expect(lints(list, { unboundMs: () => 60_000 }, /UNBOUND/)).toEqual([])
  })

  it('name limited jobs that share client nodes with others', () => {
    const list = [server('tbf jobid', 'reg start dd jobid={dd.500} rate=5')]
    const jobs = [
      job('dd.500', { hosts: ['n1', 'n2', 'n3'] }),
      job('x', { hosts: ['n2'] }),
      job('y', { hosts: ['n2', 'n3'] }),
    ]
    const isLimited = (id: string) => id === 'dd.500'
    expect(lints(list, { jobs, isLimited }, /SLOTS/)).toEqual([
      'SLOTS_SHARED watch dd: dd.500 is limited and shares 2 nodes with x, y: with more than 8 writers on a node it takes their RPC slots',
    ])
    expect(lints(list, { jobs, isLimited: () => false }, /SLOTS/)).toEqual([])
    expect(lints(list, { jobs: jobs.slice(0, 1), isLimited }, /SLOTS/)).toEqual([])
  })

  it('merge the same remark for several servers, and name those that differ', () => {
    const of = (name: string, ...v: string[]) => ({ ...server('tbf jobid', ...v), server: name })
    const wide = ['start narrow jobid={dd.500} rate=5', 'start wide jobid={dd.*} rate=9']
    const all = [of('oss01', ...wide), of('oss02', ...wide), of('oss03', 'start narrow jobid={dd.500} rate=6')]
    expect(lints(all)).toEqual([
      'SHADOWED watch narrow: never used: wide precedes it and matches everything it matches [oss01 oss02]',
      'NOT_EVERYWHERE watch wide: wide is on 2 of 3 servers, not on oss03 [oss03]',
      'DIFFERS watch narrow: narrow has rate 6 on oss03, 5 elsewhere [oss03]',
      'NOT_EVERYWHERE watch wide: hp: wide is on 2 of 3 servers, not on oss03 [oss03]',
      'DIFFERS watch narrow: hp: narrow has rate 6 on oss03, 5 elsewhere [oss03]',
    ])
    expect(lints(all, { isPrivate: () => true })).toEqual([])
  })

  it('are none for a good list', () => {
    const good = server('tbf jobid', 'start ml jobid={ml.1} rate=300', 'start root jobid={*.0} rate=20000')
    expect(
      lints([good, { ...good, server: 'oss02' }], { jobs: [job('ml.1')], unboundMs: () => undefined }, /^(?!RATE)/),
    ).toEqual([])
  })
})

describe('remarks on a draft', () => {
  const draft: StartEdit = { verb: 'start', name: 'a', conditions: 'jobid={a}', rate: 5, queue: 'reg' }
  const of = (more: Partial<StartEdit>, policy = 'tbf jobid') =>
    lintDraft({ ...draft, ...more }, { servers: [server(policy)], service: 'ost_io' }).map(
      (l) => `${l.code} ${l.level} ${l.text}`,
    )

  it('name inputs that a server would refuse or mishandle', () => {
    expect(of({})).toEqual([])
    expect(of({ name: 'sixteencharacter' })).toEqual([
      'NAME_TOO_LONG bad the name has 16 characters, at most 15 are allowed: refused',
    ])
    expect(of({ conditions: 'jobid={a}&opcode={ost_write}' })).toEqual([
      'TYPE_MISMATCH bad matches by opcode, but oss01 runs tbf jobid on reg: refused',
    ])
    expect(of({ conditions: 'opcode={obd_ping}' }, 'tbf opcode')).toEqual([
      'MISHANDLED bad obd_ping is RPC 400: servers write outside their opcode map for it',
    ])
    const long = 'a'.repeat(32)
    expect(of({ conditions: `jobid={${long}}` })).toEqual(['ODD watch job ids have at most 31 bytes, this has 32'])
    const old = readServer(serviceWith('tbf jobid', [], { release: '2.12' }))
    expect(lintDraft({ ...draft, name: 'sixteencharacter' }, { servers: [old], service: 'ost_io' })[0]?.text).toBe(
      'the name has 16 characters, at most 15 are allowed: cut to sixteencharacte',
    )
  })
})
