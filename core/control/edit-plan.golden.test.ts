/** Plans for typical operator edits: commands, inverse and notes. */
import { describe, expect, it } from 'vitest'
import { readServer, rulesText, serviceWith, write } from '../../tests/rule-oracle.ts'
import { planEdits, type EditPlan } from './edit-plan.ts'
import { compareHeads } from './read-back.ts'
import type { RuleEdit } from './rule-edit.ts'

const PRESENT = [
  'reg start backup jobid={backup.*} rate=50',
  'reg start ml_share jobid={ml.*} rate=300',
  'hp start flush jobid={*} rate=900',
]
const hog = { verb: 'start', name: 'hog4690', conditions: 'jobid={4690.*}', rate: 400, queue: 'reg' } as const

function plan(...edits: RuleEdit[]): EditPlan {
  return planEdits(readServer(serviceWith('tbf jobid', PRESENT)), edits)
}
const values = (p: EditPlan) => ({ go: p.commands.map((c) => c.value), back: p.inverse.map((c) => c.value) })

describe('one change', () => {
  it('is one command, and one that undoes it', () => {
    expect(values(plan(hog))).toEqual({
      go: ['reg start hog4690 jobid={4690.*} rate=400'],
      back: ['reg stop hog4690'],
    })
    expect(values(plan({ ...hog, rank: 'backup' })).go).toEqual([
      'reg start hog4690 jobid={4690.*} rate=400 rank=backup',
    ])
    expect(values(plan({ verb: 'change', name: 'backup', rate: 20, queue: 'reg' }))).toEqual({
      go: ['reg change backup rate=20'],
      back: ['reg change backup rate=50'],
    })
    expect(values(plan({ verb: 'stop', name: 'ml_share', queue: 'reg' }))).toEqual({
      go: ['reg stop ml_share'],
      back: ['reg start ml_share jobid={ml.*} rate=300'],
    })
    expect(values(plan({ verb: 'stop', name: 'backup', queue: 'reg' })).back).toEqual([
      'reg start backup jobid={backup.*} rate=50 rank=default',
    ])
  })

  it('goes to both queues in one command where both take it alike', () => {
    expect(values(plan({ ...hog, queue: 'both' }))).toEqual({
      go: ['start hog4690 jobid={4690.*} rate=400'],
      back: ['stop hog4690'],
    })
    expect(values(plan({ ...hog, rank: 'default', queue: 'both' })).go).toEqual([
      'start hog4690 jobid={4690.*} rate=400 rank=default',
    ])
    expect(values(plan({ verb: 'stop', name: 'ml_share', queue: 'both' })).go).toEqual(['reg stop ml_share'])
  })

  it('names its queue where the queues run other types, and has one queue where the service has one', () => {
    const service = serviceWith('tbf reg jobid', [])
    service.writePolicies('tbf hp nid')
    const server = readServer(service)
    expect(planEdits(server, [{ ...hog, queue: 'both' }]).refused).toEqual([
      { edit: 0, errno: 'EINVAL', text: 'field jobid is not part of the running type nid: Invalid argument' },
    ])
    expect(values(planEdits(server, [{ verb: 'change', name: 'default', rate: 500, queue: 'both' }])).go).toEqual([
      'reg change default rate=500',
      'hp change default rate=500',
    ])
    const single = readServer(serviceWith('tbf jobid', [], { hp: false }))
    expect(values(planEdits(single, [{ ...hog, queue: 'both' }])).go).toEqual([
      'reg start hog4690 jobid={4690.*} rate=400',
    ])
  })

  it('of position alone is followed by a start that forces reclassification, with a note', () => {
    const p = plan({ verb: 'change', name: 'backup', rank: 'ml_share', queue: 'reg' })
    expect(values(p)).toEqual({
      go: [
        'reg change backup rank=ml_share',
        'reg start sluice_rematch jobid={sluice.matches.nothing} rate=10000 rank=default',
        'reg stop sluice_rematch',
      ],
      back: [
        'reg change backup rank=default',
        'reg start sluice_rematch jobid={sluice.matches.nothing} rate=10000 rank=default',
        'reg stop sluice_rematch',
      ],
    })
    expect(p.notes).toEqual([
      {
        code: 'MATCH_ANEW',
        text: 'Reordering alone does not reclassify existing TBF classes; sluice_rematch, a rule that matches nothing, is started and stopped to force it.',
      },
    ])
    // Another start that follows anyway has the same effect.
    expect(
      values(plan({ verb: 'change', name: 'backup', rank: 'ml_share', queue: 'reg' }, { ...hog, rank: 'default' })).go,
    ).toEqual(['reg change backup rank=ml_share', 'reg start hog4690 jobid={4690.*} rate=400 rank=default'])
  })

  it('of rate and place is one command where nothing is loosened by it, else the rate is raised last', () => {
    const lower = plan({ verb: 'change', name: 'ml_share', rate: 30, rank: 'default', queue: 'reg' })
    expect(values(lower).go[0]).toBe('reg change ml_share rate=30 rank=default')
    const raise = plan({ verb: 'change', name: 'ml_share', rate: 600, rank: 'default', queue: 'reg' })
    expect(values(raise).go).toEqual([
      'reg change ml_share rank=default',
      'reg start sluice_rematch jobid={sluice.matches.nothing} rate=10000 rank=default',
      'reg stop sluice_rematch',
      'reg change ml_share rate=600',
    ])
  })
})

describe('several changes', () => {
  it('lower first, put in before they take out, and raise last', () => {
    const p = plan(
      { verb: 'stop', name: 'ml_share', queue: 'reg' },
      { verb: 'change', name: 'flush', rate: 1000, queue: 'hp' },
      { verb: 'change', name: 'backup', rate: 5, queue: 'reg' },
      hog,
    )
    expect(values(p)).toEqual({
      go: [
        'reg change backup rate=5',
        'reg start hog4690 jobid={4690.*} rate=400',
        'reg stop ml_share',
        'hp change flush rate=1000',
      ],
      back: [
        'hp change flush rate=900',
        'reg start ml_share jobid={ml.*} rate=300',
        'reg stop hog4690',
        'reg change backup rate=50',
      ],
    })
    expect(p.diff).toEqual([
      { kind: 'del', text: 'ml_share jobid={ml.*} 300', queue: 'reg' },
      { kind: 'add', text: 'hog4690 jobid={4690.*} 400', queue: 'reg' },
      { kind: 'del', text: 'backup jobid={backup.*} 50', queue: 'reg' },
      { kind: 'mod', text: 'backup jobid={backup.*} 5', queue: 'reg' },
      { kind: 'del', text: 'flush jobid={*} 900', queue: 'hp' },
      { kind: 'mod', text: 'flush jobid={*} 1000', queue: 'hp' },
    ])
    expect(p.preview.reg.map((l) => [l.kind, l.rank, l.name, l.rate])).toEqual([
      ['add', 1, 'hog4690', 400],
      ['del', undefined, 'ml_share', 300],
      ['del', undefined, 'backup', 50],
      ['mod', 2, 'backup', 5],
      ['', 3, 'default', 10_000],
    ])
    expect(p.touched).toEqual(['backup', 'hog4690', 'ml_share', 'flush'])
  })

  it('that cancel out are not sent, and those that add up are one', () => {
    expect(values(plan(hog, { verb: 'stop', name: 'hog4690', queue: 'reg' }))).toEqual({ go: [], back: [] })
    expect(values(plan(hog, { verb: 'change', name: 'hog4690', rate: 100, queue: 'reg' })).go).toEqual([
      'reg start hog4690 jobid={4690.*} rate=100',
    ])
    expect(values(plan(hog, hog)).go).toHaveLength(1)
    const same = plan({ verb: 'change', name: 'backup', rate: 50, queue: 'reg' })
    expect(same.commands).toEqual([])
    expect(same.notes).toEqual([{ code: 'NO_CHANGE', text: 'Nothing changes on oss01.' }])
  })

  it('replace a rule behind a temporary one, so that its limit applies throughout', () => {
    const p = plan(
      { verb: 'stop', name: 'backup', queue: 'reg' },
      { ...hog, name: 'backup', rank: 'default', rate: 10 },
    )
    expect(values(p).go).toEqual([
      'reg start sluice_9a87acb jobid={4690.*} rate=10 rank=default',
      'reg stop backup',
      'reg start backup jobid={4690.*} rate=10 rank=sluice_9a87acb',
      'reg stop sluice_9a87acb',
    ])
    expect(p.notes.map((n) => n.text)).toEqual([
      'backup is replaced under the same name: sluice_9a87acb applies the new limit while backup is stopped.',
      'Servers do not report whether backup was realtime: the rollback starts it without realtime.',
    ])
  })
})

describe('a plan', () => {
  it('counts what its changes refill: depth x classes of each changed rule, and no other', () => {
    const service = serviceWith('tbf jobid', PRESENT)
    for (const job of ['backup.1', 'backup.2', 'ml.1', 'x']) {
      for (const cpt of [0, 1]) service.enqueue(0, cpt, 'reg', { jobId: job, nid: '0@lo' })
    }
    const server = readServer(service)
    const change = { verb: 'change', name: 'backup', rate: 60, queue: 'reg' } as const
    expect(planEdits(server, [change, hog]).refillTokens).toBe(3 * 2 * 2)
    expect(planEdits({ ...server, depth: 1 }, [change]).refillTokens).toBe(4)
    expect(planEdits(server, [hog]).refillTokens).toBe(0)
  })

  it('warns if its inverse lacks a realtime flag, and restores the rest', () => {
    const stop = { verb: 'stop', name: 'ml_share', queue: 'reg' } as const
    const unknown = plan(stop)
    expect(unknown.notes).toEqual([
      {
        code: 'REALTIME_UNKNOWN',
        text: 'Servers do not report whether ml_share was realtime: the rollback starts it without realtime.',
      },
    ])
    const server = { ...readServer(serviceWith('tbf jobid', PRESENT)), realtime: new Map([['ml_share', true]]) }
    const known = planEdits(server, [stop])
    expect(known.notes).toEqual([])
    expect(values(known).back).toEqual(['reg start ml_share jobid={ml.*} rate=300 realtime=1'])
  })

  it.each<[string, RuleEdit, string | undefined, string]>([
    [
      'default stopped',
      { verb: 'stop', name: 'default', queue: 'reg' },
      'EPERM',
      'default cannot be stopped: Operation not permitted',
    ],
    ['a name twice', { ...hog, name: 'backup' }, 'EEXIST', 'backup already exists: File exists'],
    [
      'an unknown rule changed',
      { verb: 'change', name: 'nosuch', rate: 1, queue: 'reg' },
      'ENOENT',
      'nosuch does not exist: No such file or directory',
    ],
    [
      'an unknown rank',
      { ...hog, rank: 'nosuch' },
      'ENOENT',
      'cannot be placed before nosuch, which does not exist: No such file or directory',
    ],
    [
      'a long name',
      { ...hog, name: 'abcdefghijklmnop' },
      'ENAMETOOLONG',
      "a rule's name has at most 15 characters: File name too long",
    ],
    ['a rate of 0', { ...hog, rate: 0 }, 'EINVAL', 'rate 0 is below 1: Invalid argument'],
    [
      'an unknown field',
      { ...hog, conditions: 'uid={0}' },
      'EINVAL',
      'field uid is not part of the running type jobid: Invalid argument',
    ],
    [
      'default moved',
      { verb: 'change', name: 'default', rank: 'ml_share', queue: 'reg' },
      undefined,
      'the position of default has no effect: it applies only when no rule matches',
    ],
  ])('leaves out %s and carries out the rest', (_, wrong, errno, text) => {
    const p = plan(wrong, { ...hog, name: 'good' })
    expect(p.refused).toEqual([{ edit: 0, errno, text }])
    expect(values(p).go).toEqual(['reg start good jobid={4690.*} rate=400'])
  })

  it('never sends an opcode that servers mishandle, although they take it', () => {
    const service = serviceWith('tbf opcode', [])
    const edit = { ...hog, conditions: 'opcode={obd_ping}' }
    expect(planEdits(readServer(service), [edit])).toMatchObject({
      commands: [],
      refused: [{ errno: undefined, text: 'obd_ping is RPC 400: servers write outside their opcode map for it' }],
    })
    expect(service.writeRule('start p opcode={obd_ping} rate=1').ok).toBe(true)
  })

  it('never sends a control character: a rule with a line break cannot be read back', () => {
    for (const c of ['\n', '\r', '\0', '\u007f']) {
      expect(plan({ ...hog, conditions: `jobid={a${c}b}` })).toMatchObject({
        commands: [],
        refused: [{ errno: undefined, text: 'the conditions of hog4690 contain a control character' }],
      })
    }
  })

  it('puts new rules first without naming a controller’s rule, each at the lowest rate before it until all are started', () => {
    const service = serviceWith('tbf jobid', [...PRESENT, 'reg start ab_0123456789 jobid={x} rate=7'])
    const all = ['wide', 'slow', 'mid'].map((name, i): RuleEdit => ({ ...hog, name, rate: [400, 20, 90][i] as number }))
    expect(values(planEdits(readServer(service), all)).go).toEqual([
      'reg start wide jobid={4690.*} rate=20',
      'reg start slow jobid={4690.*} rate=20',
      'reg start mid jobid={4690.*} rate=90',
      'reg change wide rate=400',
    ])
  })

  it('notes that a rule to be stopped does not exist', () => {
    expect(plan({ verb: 'stop', name: 'gone', queue: 'reg' }).notes).toEqual([
      { code: 'NOT_THERE', text: 'gone is not on oss01.' },
      { code: 'NO_CHANGE', text: 'Nothing changes on oss01.' },
    ])
  })

  it('makes CPTs alike that a failed command left different, where it touches them', () => {
    const service = serviceWith('tbf jobid', ['reg start a jobid={a} rate=5', 'hp start b jobid={b} rate=5'])
    // Rule a does not exist on hp: the walk ends at CPT 0 hp, and CPT 1 keeps the old rate.
    expect(service.writeRule('change a rate=9').ok).toBe(false)
    const server = readServer(service)
    const p = planEdits(server, [{ verb: 'change', name: 'a', rate: 9, queue: 'reg' }])
    expect(values(p).go).toEqual(['reg change a rate=9'])
    expect(p.notes.map((n) => n.code)).toEqual(['CPTS_DISAGREE'])
    expect(p.notes[0]?.text).toBe(
      'On oss01 a has rate 9 on CPT 0, 5 on CPT 1 of reg. The rollback does not restore that.',
    )

    expect(service.writeRule('start c jobid={c} rate=5 rank=a').ok).toBe(false)
    const uneven = readServer(service)
    const change = planEdits(uneven, [{ verb: 'change', name: 'c', rate: 7, queue: 'reg' }])
    for (const c of change.commands) write(service, c.value)
    expect(
      readServer(service)
        .rules.filter((r) => r.name === 'c')
        .map((r) => [r.queue, r.cpt, r.rate]),
    ).toEqual([
      ['reg', 0, 7],
      ['reg', 1, 7],
    ])
  })

  it.each(['2.15', '2.17'] as const)('speaks to %s, which prints rules without their field, in full', (release) => {
    const service = serviceWith('tbf jobid', ['start b jobid={b.* c} rate=5', 'start a jobid={a} rate=5'], { release })
    expect(rulesText(service)).toContain('b {b.* c} 5')
    const server = readServer(service)
    const p = planEdits(server, [
      { verb: 'stop', name: 'b', queue: 'both' },
      { ...hog, queue: 'both' },
    ])
    expect(values(p)).toEqual({
      go: ['start hog4690 jobid={4690.*} rate=400', 'stop b'],
      back: ['start b jobid={b.* c} rate=5 rank=default', 'stop hog4690'],
    })
    const before = rulesText(service)
    for (const c of p.commands) write(service, c.value)
    expect(compareHeads(p.expected, p.touched, readServer(service))).toEqual({ differences: [], foreign: [] })
    for (const c of p.inverse) write(service, c.value)
    expect(rulesText(service)).toBe(before)
  })

  it('gives conditions back to the byte, blanks and all', () => {
    const odd = ' jobid  =  { a   b },  jobid={c}'
    const service = serviceWith('tbf jobid', [`reg start odd ${odd} rate=5`])
    const before = rulesText(service)
    const p = planEdits(readServer(service), [{ verb: 'stop', name: 'odd', queue: 'reg' }])
    for (const c of [...p.commands, ...p.inverse]) write(service, c.value)
    expect(rulesText(service)).toBe(before)
    expect(before).toContain('odd  jobid  =  { a   b },  jobid={c} 5')
  })

  it('among a thousand foreign rules touches none of them', () => {
    const many = Array.from({ length: 1000 }, (_, i) => `reg start f${i} jobid={${i}.x} rate=5`)
    const server = readServer(serviceWith('tbf jobid', many, { cpts: 1 }))
    const p = planEdits(server, [hog, { verb: 'change', name: 'f500', rank: 'f999', queue: 'reg' }])
    expect(p.commands.map((c) => c.value)).toEqual([
      'reg start hog4690 jobid={4690.*} rate=400',
      'reg change f500 rank=f999',
      'reg start sluice_rematch jobid={sluice.matches.nothing} rate=10000 rank=default',
      'reg stop sluice_rematch',
    ])
    expect(p.touched.toSorted()).toEqual(['f500', 'hog4690'])
  })
})
