/** What a scenario is, and what is wrong with it: faults in place, the picture, what the model does not know, and what to try. */
import type * as z from 'zod'
import { TEXT_MAX, type knowledgeLine, type ScenarioCheck } from '#core/api/sandbox.ts'
import { readScenarioText, type Scenario } from '#core/emulator/scenario.ts'
import { leaveOut } from '#core/sandbox/model-range.ts'
import { suggestedVariants } from './scenarios-variants.ts'
import { outsideInputs, outsideSentence } from './outside-inputs.ts'
import { topologyOf } from './topology.ts'

type KnowledgeLine = z.infer<typeof knowledgeLine>

const FAULTS_MAX = 20
const MESSAGE_MAX = 500
/** Guesses that are said one by one among what the model does not know. */
const GUESSES_MAX = 4

/** What holds for every scenario, and what this one says of itself. */
export function knowledgeOf(s: Scenario): KnowledgeLine[] {
  const line = (level: KnowledgeLine['level'], text: string): KnowledgeLine => ({ level, text })
  const { fork, thinning } = s
  return [
    ...(fork?.unknown ?? []).map((t) => line('unknown', t)),
    ...outsideInputs(s)
      .slice(0, GUESSES_MAX)
      .map((one) => line('watch', `${outsideSentence(one)} What is said of it is a guess.`)),
    ...(fork ? [] : [line('watch', 'A scenario that was written, not observed: its figures are of no cluster.')]),
    ...(thinning > 1
      ? [
          line(
            'watch',
            `Time is compressed ${thinning.toLocaleString('en')} times: rates and queues are as they are; phases, bursts and control periods are that much shorter, so waits longer than them end too soon.`,
          ),
        ]
      : []),
    ...(fork?.in_range ?? []).map((t) => line('ok', t)),
  ]
}

/** The check of a text that is no scenario. */
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

/** The same of a scenario that was read. */
export function checkOf(s: Scenario): ScenarioCheck {
  // A fork takes the planes beside Lustre as they are: they are said among what is not known, and stop no run of it.
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
  }
}

/** A scenario without some of its jobs. */
export function without(text: string, jobIds: readonly string[]): { text: string; check: ScenarioCheck } {
  const left = leaveOut(text, new Set(jobIds))
  return { text: left, check: checkScenario(left) }
}
