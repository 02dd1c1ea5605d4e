/** Scenario check: faults with positions, topology, limitations of the model, and suggested variants. */
import type * as z from 'zod'
import { TEXT_MAX, type knowledgeLine, type ScenarioCheck } from '#core/api/sandbox.ts'
import { readScenarioText, type Scenario } from '#core/emulator/scenario.ts'
import { withoutJobs } from '#core/sandbox/model-range.ts'
import { suggestedVariants } from './scenarios-variants.ts'
import { outsideInputs, outsideSentence } from './outside-inputs.ts'
import { topologyOf } from './topology.ts'

type KnowledgeLine = z.infer<typeof knowledgeLine>

const FAULTS_MAX = 20
const MESSAGE_MAX = 500
/** Most uncertain inputs listed one by one among the limitations. */
const GUESSES_MAX = 4

/** General limitations, and those specific to a scenario. */
export function knowledgeOf(s: Scenario): KnowledgeLine[] {
  const line = (level: KnowledgeLine['level'], text: string): KnowledgeLine => ({ level, text })
  const { fork, thinning } = s
  return [
    ...(fork?.unknown ?? []).map((t) => line('unknown', t)),
    ...outsideInputs(s)
      .slice(0, GUESSES_MAX)
      .map((one) => line('watch', `${outsideSentence(one)} Low confidence.`)),
    ...(fork ? [] : [line('watch', 'Written scenario: synthetic, not measured.')]),
    ...(thinning > 1
      ? [line('watch', `Time x${thinning.toLocaleString('en')}: waits longer than a period are underestimated.`)]
      : []),
    ...(fork?.in_range ?? []).map((t) => line('ok', t)),
  ]
}

/** Check of a text that is not a valid scenario. */
export const nothing = (faults: ScenarioCheck['faults']): ScenarioCheck => ({
  faults,
  title: '',
  topology: null,
  knowledge: [],
  counts: { jobs: 0, osts: 0, mdts: 0, cpts: 0 },
  suggested: [],
})

export function checkScenario(text: string): ScenarioCheck {
  if (text.length > TEXT_MAX) {
    const message = `longer than ${TEXT_MAX.toLocaleString('en')} characters`
    return nothing([{ line: 1, column: 1, code: 'SCENARIO_TOO_LONG', message }])
  }
  const read = readScenarioText(text)
  if (!read.ok) {
    return nothing(read.error.slice(0, FAULTS_MAX).map((f) => ({ ...f, message: f.message.slice(0, MESSAGE_MAX) })))
  }
  return checkOf(read.value)
}

/** Settings of metadata and data nodes that variants can change. */
function planeSettings({ padll, control, haechi }: Scenario): NonNullable<ScenarioCheck['planes']> {
  const limits = Object.entries({ ...control.metadata?.limits, ...padll?.system_limits })
  return {
    metadataLimits: limits.map(([scope, rate]) => ({ scope, rate })),
    reservations: haechi.flatMap((n) =>
      n.clients.flatMap((c) => (c.outside ? [] : [{ node: n.name, client: c.name, reservation: c.reservation }])),
    ),
  }
}

/** Check of a valid scenario. */
export function checkOf(s: Scenario): ScenarioCheck {
  // A fork takes the planes besides Lustre unchanged: they are listed as limitations, but do not block a run.
  const outside = outsideInputs(s, { planes: s.fork === undefined })
  return {
    faults: [],
    title: s.title,
    topology: topologyOf(s),
    knowledge: knowledgeOf(s),
    ...(outside.length > 0 ? { outside } : {}),
    counts: {
      jobs: s.jobs.length,
      osts: s.oss.reduce((n, o) => n + o.osts.length, 0),
      mdts: s.mds.reduce((n, m) => n + m.mdts.length, 0),
      cpts: Math.max(...[...s.oss, ...s.mds].map((x) => x.cpts)),
    },
    suggested: suggestedVariants(s),
    planes: planeSettings(s),
  }
}

/** Scenario without some of its jobs. */
export function without(text: string, jobIds: readonly string[]): { text: string; check: ScenarioCheck } {
  const reduced = withoutJobs(text, new Set(jobIds))
  return { text: reduced, check: checkScenario(reduced) }
}
