/** Display models of the steps of the policy file, in order of their times. */
import type { MetadataFrame, PolicyStep } from '#core/api/padll.ts'
import { plainText } from '../../format/plain-text.ts'
import { formatCountdown, formatNumber, formatSpan } from '../../format/units.ts'

export interface StepModel {
  readonly key: string
  readonly line: number
  readonly at: string
  readonly kind: string
  readonly job: string
  readonly scope: string
  readonly value: string
  readonly state: PolicyStep['state'] | 'next'
  readonly status: string
  /** Step as in the file, and its state. */
  readonly title: string
  /** Part of its line that this plane cannot express; null if none. */
  readonly unexpressed: string | null
}

const kinds: Readonly<Record<string, string>> = { job: 'limit', demand: 'demand' }
/** Returns the name of a kind; a kind that is only read keeps its keyword. */
export const kindName = (kind: string): string => (Object.hasOwn(kinds, kind) ? (kinds[kind] ?? kind) : plainText(kind))

const stateNames: Readonly<Record<StepModel['state'], string>> = {
  next: 'next',
  waiting: 'pending',
  active: 'in force',
  replaced: 'past',
  'unknown-job': 'no such job',
  ignored: 'ignored',
}

export function policySteps(
  { steps, nextInS }: Pick<MetadataFrame['policies'], 'steps' | 'nextInS'>,
  unexpressed: MetadataFrame['unexpressed'] = [],
): StepModel[] {
  const sorted = [...steps].sort((a, b) => a.atS - b.atS || a.line - b.line)
  const nextAtS = nextInS === null ? null : (sorted.find(({ state }) => state === 'waiting')?.atS ?? null)
  const remarks = new Map(unexpressed.map(({ line, text }) => [line, plainText(text)]))
  return sorted.map((step, i) => {
    const isNext = step.state === 'waiting' && step.atS === nextAtS
    const state = isNext ? 'next' : step.state
    const remainingS =
      step.state === 'waiting' && nextAtS !== null && nextInS !== null ? nextInS + step.atS - nextAtS : null
    const status = remainingS === null ? stateNames[state] : `in ${formatCountdown(remainingS * 1000)}`
    return {
      key: `${step.line} ${i}`,
      line: step.line,
      at: formatNumber(step.atS, Number.isInteger(step.atS) ? 0 : 1),
      kind: kindName(step.kind),
      job: plainText(step.job),
      scope: plainText(step.scope),
      value: formatNumber(step.value),
      state,
      status,
      title: plainText(
        `line ${step.line}: ${step.rule} ${step.atS} ${step.kind} ${step.job} ${step.scope} ${step.value}, ${stateNames[state]}`,
      ),
      unexpressed: remarks.get(step.line) ?? null,
    }
  })
}

/** Formats the time to the next step: `next step in 1 min 42 s`. */
export function nextStepText({ steps, nextInS }: Pick<MetadataFrame['policies'], 'steps' | 'nextInS'>): string {
  if (nextInS !== null) return `next step in ${formatSpan(nextInS * 1000)}`
  return steps.length === 0 ? 'empty' : 'no further steps'
}
