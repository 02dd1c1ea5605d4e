/** A policy text as the editor is told of it: faults with their places, steps as they would stand, remarks on what it asks. */
import { BYTE_SCOPES, type PoliciesCheck, type PolicyFault, type PolicyStep } from '#core/api/padll.ts'
import { parsePolicies, PolicySchedule } from '#core/padll/rules/policy-schedule.ts'
import { printPolicyText } from '#core/padll/rules/policy-text.ts'

/** Faults and remarks that are named. */
const FAULTS_MAX = 200
const REMARKS_MAX = 20

export interface PolicyText {
  readonly faults: readonly PolicyFault[]
  readonly steps: readonly PolicyStep[]
  /** The same in the public line format. */
  readonly lines: string
}

/** What a text is checked against. */
export interface PolicySituation {
  readonly isKnown: (job: string) => boolean
  readonly limits: readonly { readonly scope: string; readonly rate: number }[]
}

/** Texts are bytes, as job ids are: one character a byte. */
function notBytes(text: string): PolicyFault[] {
  const at = /[\0\u0100-\uffff]/.exec(text)?.index
  if (at === undefined) return []
  const before = text.slice(0, at).split('\n')
  const message =
    text[at] === '\0' ? 'a text holds no NUL' : 'a job id is bytes: characters up to U+00FF, one for each byte'
  return [{ line: before.length, column: (before.at(-1)?.length ?? 0) + 1, length: 1, severity: 'error', message }]
}

export function readPolicyText(text: string, { isKnown }: Pick<PolicySituation, 'isKnown'>): PolicyText {
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

export const isFaulty = ({ faults }: Pick<PolicyText, 'faults'>): boolean => faults.some((f) => f.severity === 'error')

/** What is asked of a scope beyond its limit, when all steps of the text are in force; jobs that are not there. */
export function remarksOf(steps: readonly PolicyStep[], situation: PolicySituation): PoliciesCheck['remarks'] {
  const remarks: PoliciesCheck['remarks'] = []
  const last = new Map<string, PolicyStep>()
  for (const s of [...steps].sort((a, b) => a.atS - b.atS)) {
    if (s.state !== 'ignored') last.set(`${s.kind} ${s.scope} ${s.job}`, s)
  }
  for (const { scope, rate } of situation.limits) {
    const here = [...last.values()].filter((s) => s.kind === 'demand' && s.scope === scope && situation.isKnown(s.job))
    const asked = here.reduce((n, s) => n + s.value, 0)
    if (asked <= rate) continue
    const jobs = `${here.length} ${here.length === 1 ? 'job' : 'jobs'}`
    remarks.push({
      level: 'watch',
      text: `${jobs} ask for ${asked} ${BYTE_SCOPES.has(scope) ? 'B/s' : 'op/s'} of ${scope} in all, the system limit is ${rate}: demands are cut`,
    })
  }
  const absent = [...new Set([...last.values()].map((s) => s.job))].filter((job) => !situation.isKnown(job))
  if (absent.length > 0) {
    const more = absent.length > 3 ? ` and ${absent.length - 3} more` : ''
    const text = `${absent.slice(0, 3).join(', ')}${more}: no such job is there; it is waited for`
    remarks.push({ level: 'idle', text })
  }
  return remarks.slice(0, REMARKS_MAX)
}
