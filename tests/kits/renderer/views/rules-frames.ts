/** Frames and answers as a host sends them, for the tests of this view. */
import type { RulesFrame } from '#core/api/frames.ts'
import type { Review, RuleCheck, RuleFault, RuleForm, StagedFrame } from '#core/api/rule-edits.ts'
import type { RuleRow } from '#renderer/views/rules/rule-row-model.ts'

export const NOW_MS = Date.UTC(2026, 10, 19, 14, 32, 7)

export function ruleRow(patch: Partial<RuleRow> = {}): RuleRow {
  return {
    name: 'hog',
    conditions: 'jobid={4690.*}',
    rateMin: 200,
    rateMax: 200,
    ceiling: 800,
    ceilingBps: null,
    ref: 2,
    refZeroMs: null,
    used: null,
    spark: [],
    owner: 'other',
    expiresMs: null,
    createdMs: null,
    servers: 2,
    serversTotal: 2,
    missing: [],
    staged: '',
    rateStaged: null,
    would: null,
    reason: '',
    expressions: [{ join: '', field: 'jobid', items: ['4690.*'] }],
    ...patch,
  }
}

export function rulesFrame(patch: Partial<RulesFrame> = {}): RulesFrame {
  const rows = patch.rows ?? [
    ruleRow(),
    ruleRow({ name: 'default', owner: 'lustre', conditions: '*', expressions: [], rateMin: 10_000, rateMax: 10_000 }),
  ]
  return {
    seq: 1,
    sample: 40,
    atMs: NOW_MS,
    services: ['ost_io', 'mdt'],
    service: 'ost_io',
    nodes: ['oss01', 'oss02'],
    node: '',
    queue: 'reg',
    policy: 'tbf jobid',
    cpts: 2,
    known: rows.length,
    offset: 0,
    release: '2.17.57',
    queued: 0,
    drifting: 0,
    differs: '',
    lints: [],
    plans: [],
    server: { node: 'oss01', command: 'lctl get_param ost.OSS.ost_io.nrs_tbf_rule', text: 'x', exit: 0, more: 0 },
    ...patch,
    rows,
  }
}

export const ruleForm = (patch: Partial<RuleForm> = {}): RuleForm => ({
  verb: 'start',
  name: 'hog4690',
  conditions: 'jobid={4690.*}',
  rate: '400',
  rank: '',
  realtime: false,
  queue: 'reg',
  ...patch,
})

/** Value of a form, as a server accepts it. */
export function valueOf({ verb, name, conditions, rate, rank, realtime, queue }: RuleForm): string {
  const words = [queue === 'both' ? '' : queue, verb, name, verb === 'start' ? conditions : '']
  if (rate !== '') words.push(`rate=${rate}`)
  if (rank !== '') words.push(`rank=${rank}`)
  if (realtime) words.push('realtime=1')
  return words.filter((w) => w !== '').join(' ')
}

export function ruleCheck(form: RuleForm, patch: Partial<RuleCheck> = {}): RuleCheck {
  return {
    text: valueOf(form),
    parameter: 'ost.OSS.ost_io.nrs_tbf_rule',
    form,
    expressions: [],
    faults: [],
    notes: [],
    lints: [],
    ceiling: [],
    trial: null,
    ...patch,
  }
}

/** `opcode={ost_wirte}`: the fault for a misspelled opcode in a value. */
export function opcodeFault(text: string): RuleFault[] {
  const at = text.indexOf('ost_wirte')
  const message = 'unknown opcode, nearest is ost_write'
  return at < 0 ? [] : [{ at, length: 9, message, errno: 'EINVAL', field: 'conditions' }]
}

export function review(patch: Partial<Review> = {}): Review {
  return {
    planId: 'plan-1',
    nodes: [
      {
        host: 'oss01',
        commands: [
          "systemd-run --on-active=30m --unit=sluice-b311 lctl set_param ost.OSS.ost_io.nrs_tbf_rule='stop hog4690'",
          "lctl set_param ost.OSS.ost_io.nrs_tbf_rule='reg start hog4690 jobid={4690.*} rate=400'",
        ],
        inverse: ["lctl set_param ost.OSS.ost_io.nrs_tbf_rule='reg stop hog4690'"],
        alike: ['oss02'],
      },
    ],
    list: [
      { kind: 'add', rank: 1, name: 'hog4690', text: 'jobid={4690.*} 400' },
      { kind: '', rank: 2, name: 'default', text: '* 10000' },
    ],
    more: 0,
    trial: {
      atMs: NOW_MS,
      jobCount: 1,
      mayCount: 0,
      otherCount: 0,
      classes: 4,
      targets: 8,
      servers: 2,
      rpcsNow: 61_904,
      rpcsAfter: 1_600,
      jobs: [{ jobId: '4690.python.u1021', how: 'yes', rpcs: 61_904, before: 'default', change: -0.97 }],
    },
    servers: 2,
    serversTotal: 2,
    refillTokens: 12,
    typed: '4690.python',
    expiresS: 1800,
    refused: null,
    timers: 'server',
    canaryS: 10,
    pending: [],
    ...patch,
  }
}

export function stagedFrame(patch: Partial<StagedFrame> = {}): StagedFrame {
  return {
    seq: 1,
    sample: 40,
    atMs: NOW_MS,
    service: 'ost_io',
    inverse: ['reg stop hog4690'],
    lints: [],
    changes: [],
    state: { phase: 'editing', servers: [] },
    policy: null,
    commit: null,
    since: [],
    items: [
      {
        id: 's1',
        verb: 'start',
        kind: 'add',
        rule: 'hog4690',
        form: ruleForm(),
        expiresS: 1800,
        reason: 'queue',
        stagedMs: NOW_MS,
        servers: 2,
        diff: [{ kind: 'add', text: 'hog4690 jobid={4690.*} 400' }],
        commands: review().nodes[0]?.commands ?? [],
      },
    ],
    review: review(),
    ...patch,
  }
}
