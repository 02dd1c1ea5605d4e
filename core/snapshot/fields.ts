/**
 * Every field that a bundle exports, and its treatment: the list that a preview shows and that the writers are checked against.
 * Fields not listed are not written. kept: figures, times and terms of the product; pseudonym: a name, replaced; names
 * replaced: free text, in which every known name is replaced.
 */
import type { MemberGroup } from './manifest.ts'

export type FieldWay = 'kept' | 'pseudonym' | 'names replaced'

export interface LeavingField {
  readonly group: MemberGroup
  /** `table.column` of the history, `cell.field` of the notebook, and so on. */
  readonly field: string
  readonly how: FieldWay
}

type Ways = Readonly<Partial<Record<FieldWay, string>>>

/** Fields by group, then by holder, separated by blanks. */
const TABLE: Readonly<Record<MemberGroup, Readonly<Record<string, Ways>>>> = {
  history: {
    cluster: { kept: 'id kind', pseudonym: 'name' },
    // The source's text description is cleared on export.
    source: { kept: 'id kind detail started_ms cluster_id', pseudonym: 'cluster' },
    job: { kept: 'id cluster nodes first_ms last_ms', pseudonym: 'job_id user account exe' },
    target: { kept: 'id cluster', pseudonym: 'name node' },
    rule: {
      kept: 'id source queue cpt position rate from_ms to_ms',
      pseudonym: 'server name conditions',
    },
    decision: { kept: 'source target at_ms budget', pseudonym: 'allocations', 'names replaced': 'controller' },
    adaptbf_moves: { kept: 'source at_ms target lender borrower kind tokens' },
    event: { kept: 'id source at_ms kind level', 'names replaced': 'subject text place' },
    ldlm_namespace: { kept: 'id source', pseudonym: 'node name' },
    ldlm_sample: {
      kept: 'namespace at_ms locks unused resources granted grants cancels pool_limit timeouts contentions',
    },
    brw_sample: { kept: 'target at_ms seconds bins' },
    service_timeout: { kept: 'cluster service cpt at_ms current worst worst_at_s', pseudonym: 'node' },
    rolled: { kept: 'cluster tier to_ms' },
    plane_series: { kept: 'id cluster kind last_ms', pseudonym: 'job_id', 'names replaced': 'place name' },
    convoy: {
      kept: 'id cluster from_ms to_ms waiting',
      pseudonym: 'server',
      'names replaced': 'resource data',
    },
    eviction: { kept: 'id at_ms cluster tier from_ms to_ms samples reason' },
    // color: of a job in charts.
    samples: {
      kept: 'rpcs readBps writeBps throttled record mdops serviceMs queued rules onLoan color',
    },
  },
  csv: {
    'cluster.csv': {
      kept: 'time rpcs_per_s read_bytes_per_s write_bytes_per_s service_ms queued_rpcs rules tokens_on_loan metadata_rpcs_per_s',
    },
    'targets.csv': { kept: 'time rpcs_per_s service_ms queued_rpcs', pseudonym: 'target node' },
    'jobs.csv': {
      kept: 'time nodes rpcs_per_s read_bytes_per_s write_bytes_per_s metadata_rpcs_per_s share_at_limit record_tokens',
      pseudonym: 'job user account program',
    },
    'events.csv': { kept: 'time kind level', 'names replaced': 'subject where text' },
    'rules.csv': {
      kept: 'from to queue cpt position rate_per_s',
      pseudonym: 'server name conditions',
    },
  },
  rules: {
    'before.txt, after.txt': { kept: 'queue cpt position rate', pseudonym: 'server name conditions' },
    'changes.diff': { kept: 'rate', pseudonym: 'server name conditions' },
  },
  notebook: {
    incident: {
      kept: 'format id status createdMs changedMs resolvedMs fromMs toMs',
      pseudonym: 'author',
      'names replaced': 'title',
    },
    source: { kept: 'kind env seed', pseudonym: 'cluster', 'names replaced': 'scenario' },
    alert: { kept: 'kind atMs', pseudonym: 'where', 'names replaced': 'text' },
    note: { kept: 'id atMs kind', 'names replaced': 'text' },
    chart: {
      kept: 'id atMs kind t values ink area limit.value marks.atMs marks.level of',
      pseudonym: 'place series.label of.cluster',
      'names replaced': 'title unit limit.label marks.text',
    },
    table: {
      kept: 'id atMs kind rows.values rows.ink known of',
      pseudonym: 'rows.name of.cluster',
      'names replaced': 'title columns',
    },
    diff: {
      kept: 'id atMs kind service servers lines.kind lines.before lines.after more of',
      pseudonym: 'lines.name lines.conditions of.cluster',
      'names replaced': 'title',
    },
    verdict: {
      kept: 'id atMs kind parts.strong seeds of',
      pseudonym: 'of.cluster',
      'names replaced': 'title parts.text detail unknown',
    },
    transcript: {
      kept: 'id atMs kind lines.atMs lines.kind audit of',
      pseudonym: 'lines.where of.cluster',
      'names replaced': 'lines.text',
    },
  },
  audit: {
    record: { kept: 'number atMs kind', pseudonym: 'server', 'names replaced': 'text' },
    by: { kept: 'monoMs', pseudonym: 'cluster plan who login' },
    chain: { kept: 'hash' },
  },
  readings: { reading: { kept: 'atMs', pseudonym: 'server', 'names replaced': 'what text' } },
  charts: { 'drawing and picture': { kept: 't values', pseudonym: 'labels', 'names replaced': 'title' } },
}

const WAYS: readonly FieldWay[] = ['kept', 'pseudonym', 'names replaced']

/** Fields of one holder: `fieldsOf('history', 'job')`. */
export function fieldsOf(group: MemberGroup, of: string): LeavingField[] {
  const ways = TABLE[group][of] ?? {}
  return WAYS.flatMap((how) =>
    (ways[how] ?? '')
      .split(' ')
      .filter((f) => f !== '')
      .map((f) => ({ group, field: `${of}.${f}`, how })),
  )
}

export const holdersOf = (group: MemberGroup): readonly string[] => Object.keys(TABLE[group])

/** All exported fields; without redaction every one is kept. */
export function leavingFields(groups: readonly MemberGroup[], isRedacted: boolean): LeavingField[] {
  return groups.flatMap((group) =>
    holdersOf(group).flatMap((of) => fieldsOf(group, of).map((f) => (isRedacted ? f : { ...f, how: 'kept' as const }))),
  )
}

/** Data that no bundle contains. */
export const NEVER: readonly string[] = [
  'SSH keys, known hosts and host key fingerprints as they are',
  'Passwords and passphrases',
  'The pseudonym key',
  'Settings of this console: its clusters, alert rules, windows and filters',
  'Other clusters, and everything outside the range',
  'Working states of controllers (adaptbf_state) and open timers',
  'File contents and file names beyond those that lock managers and notes name',
]
