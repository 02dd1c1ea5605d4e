/**
 * Metadata QoS service: settings of a plane's controller, and its policies after a check. Stages are reached through
 * their global controller, metadata servers through the console's own control loop. One per cluster.
 */
import { createHash } from 'node:crypto'
import {
  type PadllChange,
  type PadllPlane,
  type PoliciesCheck,
  BYTE_SCOPES,
  type PolicyFault,
  type PolicyStep,
} from '#core/api/padll.ts'
import { fail, ok, type Failure, type Result } from '#core/base/result.ts'
import { parseConsole, setCommand, setPoliciesCommand, type SettingsChange } from '#core/padll/console.ts'
import type { PadllStatus } from '#core/padll/status.ts'
import { isScope } from '#core/padll/vocabulary.ts'
import type { MetadataChange } from '../../cluster/metadata/state.ts'
import type { ClusterMonitor } from '../../cluster/monitor.ts'
import { CommandLink } from '../command-link.ts'
import { diffLines } from '#core/base/line-diff.ts'
import { parsePolicies, PolicySchedule } from '#core/padll/rules/policy-schedule.ts'
import { printPolicyText } from '#core/padll/rules/policy-text.ts'

/** Most faults and remarks listed. */
const FAULTS_MAX = 200
const REMARKS_MAX = 20

interface PolicyText {
  readonly faults: readonly PolicyFault[]
  readonly steps: readonly PolicyStep[]
  /** Same in the public line format. */
  readonly lines: string
}

/** Data that a policy text is checked against. */
interface PolicySituation {
  readonly isKnown: (job: string) => boolean
  readonly limits: readonly { readonly scope: string; readonly rate: number }[]
}

/** Policy texts are byte texts, as job ids are: one character per byte. */
function notBytes(text: string): PolicyFault[] {
  const at = /[\0\u0100-\uffff]/.exec(text)?.index
  if (at === undefined) return []
  const before = text.slice(0, at).split('\n')
  const message =
    text[at] === '\0' ? 'NUL is not allowed' : 'job ids are bytes: only characters up to U+00FF are allowed'
  return [{ line: before.length, column: (before.at(-1)?.length ?? 0) + 1, length: 1, severity: 'error', message }]
}

/** Checks a policy text for the editor: faults with positions, and the resulting steps. */
function readPolicyText(text: string, { isKnown }: Pick<PolicySituation, 'isKnown'>): PolicyText {
  const wrong = notBytes(text)
  const file = parsePolicies(text)
  const schedule = new PolicySchedule(file)
  schedule.advance(0)
  return {
    faults: [...wrong, ...file.faults].slice(0, FAULTS_MAX),
    steps: schedule.steps(isKnown),
    lines: file.format === 'yaml' ? printPolicyText(file.policies) : text,
  }
}

const isFaulty = ({ faults }: Pick<PolicyText, 'faults'>): boolean => faults.some((f) => f.severity === 'error')

/** Demands on a scope beyond its limit, with all steps of the text in force; unknown jobs. */
function remarksOf(steps: readonly PolicyStep[], situation: PolicySituation): PoliciesCheck['remarks'] {
  const remarks: PoliciesCheck['remarks'] = []
  const last = new Map<string, PolicyStep>()
  for (const s of [...steps].sort((a, b) => a.atS - b.atS)) {
    if (s.state !== 'ignored') last.set(`${s.kind} ${s.scope} ${s.job}`, s)
  }
  for (const { scope, rate } of situation.limits) {
    const here = [...last.values()].filter((s) => s.kind === 'demand' && s.scope === scope && situation.isKnown(s.job))
    const requested = here.reduce((n, s) => n + s.value, 0)
    if (requested <= rate) continue
    const jobs = `${here.length} ${here.length === 1 ? 'job' : 'jobs'}`
    remarks.push({
      level: 'watch',
      text: `${jobs} request ${requested} ${BYTE_SCOPES.has(scope) ? 'B/s' : 'op/s'} of ${scope} in total, the system limit is ${rate}: demands are reduced`,
    })
  }
  const absent = [...new Set([...last.values()].map((s) => s.job))].filter((job) => !situation.isKnown(job))
  if (absent.length > 0) {
    const more = absent.length > 3 ? ` and ${absent.length - 3} more` : ''
    const text = `${absent.slice(0, 3).join(', ')}${more}: no such job yet; waiting for it`
    remarks.push({ level: 'idle', text })
  }
  return remarks.slice(0, REMARKS_MAX)
}

const refused = (code: string, why: string, next: string): { readonly ok: false; readonly error: Failure } =>
  fail({ code, what: 'The controller was not changed', why, unaffected: 'It continues unchanged.', next })

const NO_STAGES: Failure = {
  code: 'NO_CONTROLLER',
  what: 'Nothing was sent',
  why: 'this source has no controller of stages',
  next: 'Set the PADLL controller under Edit cluster.',
}

const NO_SERVERS: Failure = {
  code: 'NO_SERVERS',
  what: 'Nothing was changed',
  why: 'this source has no metadata server',
  next: 'Add one under Edit cluster.',
}

/** True if a status reflects a change. */
function shows(status: PadllStatus, change: SettingsChange): boolean {
  const { algorithm, epsilon, split, collectRounds, limits = [] } = change
  return (
    (algorithm ?? status.algorithm) === status.algorithm &&
    (epsilon ?? status.epsilon) === status.epsilon &&
    (split ?? status.split) === status.split &&
    (collectRounds ?? status.collectRounds) === status.collectRounds &&
    limits.every(({ scope, rate }) => (status.limits.find((l) => l.scope === scope)?.rate ?? null) === rate)
  )
}

/** Translates a window's change into controller settings; refuses settings that a controller does not have. */
function settingsOf({ algorithm, epsilon, split, collectRounds, limit }: PadllChange): Result<SettingsChange> {
  if (limit && !isScope(limit.scope)) {
    return refused('BAD_SETTING', `"${limit.scope}" is not an operation or a class`, 'Choose one of the scopes shown.')
  }
  const change: SettingsChange = {
    ...(algorithm === undefined ? {} : { algorithm }),
    ...(epsilon === undefined ? {} : { epsilon }),
    ...(split === undefined ? {} : { split }),
    ...(collectRounds === undefined ? {} : { collectRounds }),
    ...(limit && isScope(limit.scope) ? { limits: [{ scope: limit.scope, rate: limit.rate }] } : {}),
  }
  // Literal arguments as the controller reads them.
  const args = setCommand(change).split(' ').slice(2).filter(Boolean)
  const read = parseConsole(args)
  return read.ok ? ok(change) : refused('BAD_SETTING', read.error, 'Correct the value and change it again.')
}

const argsOf = (change: SettingsChange): string => setCommand(change).replace('sluice padll set ', '')

/** Policy text to put in force: as it was checked, and the confirmation typed for it. */
export interface PolicyOrder {
  readonly plane: PadllPlane
  readonly text: string
  readonly planId: string
  readonly typed: string
}

export class PadllService {
  readonly #monitor: ClusterMonitor
  readonly #link: CommandLink

  constructor(monitor: ClusterMonitor) {
    this.#monitor = monitor
    const [noun, view] = ['controller', 'Metadata QoS']
    this.#link = new CommandLink(monitor, { noun, view, subject: 'PADLL', refusedCode: 'CONTROLLER_REFUSED' })
  }

  /** Changes settings of a plane. Failures: BAD_SETTING, NO_SERVERS, those of `CommandLink.send` and of the monitor. */
  async change(input: PadllChange): Promise<Result<undefined>> {
    const change = settingsOf(input)
    if (!change.ok) return change
    if (input.plane === 'mds') return this.#changeServers(input)
    return this.#send(`settings changed: ${argsOf(change.value)}`, setCommand(change.value, this.#epoch), (now) =>
      shows(now, change.value),
    )
  }

  #changeServers({ algorithm, epsilon, split, collectRounds, limit }: PadllChange): Result<undefined> {
    if (!this.#monitor.metadata.hasServers) return fail(NO_SERVERS)
    if (split !== undefined || collectRounds !== undefined) {
      const why = 'rules of metadata servers are divided among the servers, and recomputed in every cycle'
      return refused('NOT_OF_PLANE', why, 'Change it for the stages.')
    }
    const change: MetadataChange = {
      ...(algorithm === undefined ? {} : { algorithm }),
      ...(epsilon === undefined ? {} : { epsilon }),
      ...(limit === undefined ? {} : { limit }),
    }
    return this.#monitor.setMetadata(change)
  }

  /** Meaning of a policy text on a plane now. Nothing is kept or sent. */
  check(plane: PadllPlane, text: string): PoliciesCheck {
    const situation = this.#situation(plane)
    const read = readPolicyText(text, situation)
    const before = this.#textOf(plane)
    const mode = this.#monitor.loop.mode
    const isOff = mode !== 'enforce'
    const preview =
      plane === 'mds' && !isFaulty(read)
        ? this.#monitor.metadata.preview({ policies: text }, this.#monitor.jobs)
        : undefined
    const unexpressed = preview?.ok ? preview.value.unexpressed : []
    return {
      faults: [...read.faults],
      steps: [...read.steps],
      lines: read.lines,
      diff: diffLines(before, text),
      commands: isFaulty(read)
        ? []
        : plane === 'stages'
          ? [setPoliciesCommand(text, this.#epoch)]
          : preview?.ok
            ? preview.value.commands.flatMap((c) => c.commands.map((command) => `${c.host}: ${command}`))
            : [],
      remarks: [
        ...(isOff
          ? [{ level: 'watch' as const, text: `the mode is ${mode}: changes are written in Enforce only` }]
          : []),
        ...remarksOf(read.steps, situation),
        ...unexpressed.map((u) => ({
          level: 'watch' as const,
          text: u.line === 0 ? u.text : `line ${u.line}: ${u.text}`,
        })),
      ],
      planId: this.#planId(plane, text),
    }
  }

  /**
   * Puts a checked text in force. Failures: NOT_TYPED (outside a demo the target's name is typed), PLAN_CHANGED (the
   * controller, or its policies, changed since the check), FAULTY, NO_SERVERS, those of `CommandLink.send` and of
   * the monitor.
   */
  async apply({ plane, text, planId, typed }: PolicyOrder): Promise<Result<undefined>> {
    if (plane === 'stages' && !this.#monitor.padll) return fail(NO_STAGES)
    if (plane === 'mds' && !this.#monitor.metadata.hasServers) return fail(NO_SERVERS)
    if (this.#monitor.source.kind !== 'EMULATED' && typed !== this.#typedTarget(plane)) {
      return refused('NOT_TYPED', 'the typed name does not match', 'Type the name as shown.')
    }
    if (planId !== this.#planId(plane, text)) {
      const why = 'the controller, its policies or the text changed since they were checked'
      return refused('PLAN_CHANGED', why, 'Check the text again; it is then compared with the current state.')
    }
    const { faults } = readPolicyText(text, this.#situation(plane))
    const fault = faults.find((f) => f.severity === 'error')
    if (fault) {
      const why = `line ${fault.line}, column ${fault.column}: ${fault.message}`
      return refused('FAULTY', why, 'Correct the text and apply it again.')
    }
    if (plane === 'mds') return this.#monitor.setMetadata({ policies: text })
    const steps = `${text.split('\n').filter((l) => l.trim() !== '').length} lines`
    return this.#send(
      `policies changed: ${steps}`,
      setPoliciesCommand(text, this.#epoch),
      (now) => now.policies.text === (text === '' ? '\n' : text),
    )
  }

  #send(title: string, command: string, isShown: (status: PadllStatus) => boolean): Promise<Result<undefined>> {
    const { padll } = this.#monitor
    if (!padll) return Promise.resolve(fail(NO_STAGES))
    const isApplied = (): boolean => {
      const status = padll.documents.newest?.status
      return status !== undefined && isShown(status)
    }
    return this.#link.send(padll, { title, command, isApplied })
  }

  /** Name to be typed: the global controller, or the cluster of the servers. */
  #typedTarget(plane: PadllPlane): string {
    const { padll, source } = this.#monitor
    const name = plane === 'stages' ? (padll?.documents.newest?.status.controller ?? '') : ''
    return name === '' ? source.cluster : name
  }

  get #epoch(): number | undefined {
    return this.#monitor.padll?.documents.newest?.status.epoch
  }

  #textOf(plane: PadllPlane): string {
    const { padll, metadata } = this.#monitor
    return plane === 'mds' ? metadata.settings.policies : (padll?.documents.newest?.status.policies.text ?? '')
  }

  #situation(plane: PadllPlane): PolicySituation {
    const { padll, metadata, jobs } = this.#monitor
    if (plane === 'mds') return { isKnown: (job) => jobs.find(job) !== undefined, limits: metadata.settings.limits }
    const status = padll?.documents.newest?.status
    const present = new Set(status?.jobs.filter((j) => j.stages > 0).map((j) => j.job))
    return { isKnown: (job) => present.has(job), limits: status?.limits ?? [] }
  }

  /** Identifies a text, the policies that it replaces, and the run of the controller that takes it. */
  #planId(plane: PadllPlane, text: string): string {
    const status = this.#monitor.padll?.documents.newest?.status
    const run = plane === 'mds' ? [] : [status?.controller, status?.epoch, status?.startedMs]
    return createHash('sha256')
      .update(JSON.stringify([plane, run, this.#textOf(plane), text]))
      .digest('hex')
      .slice(0, 16)
  }
}
