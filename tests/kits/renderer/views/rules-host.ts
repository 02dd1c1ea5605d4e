/** Host for the tests of this view: answers drafts, records its requests, and sends the given frames. */
import type { RulesFrame } from '#core/api/frames.ts'
import type { PastChange, RuleCheck, RuleForm, StagedFrame } from '#core/api/rule-edits.ts'
import type { Client } from '#renderer/stores/client.ts'
import { useConnectionStore } from '#renderer/stores/connection.ts'
import { opcodeFault, ruleCheck, ruleForm, valueOf } from './rules-frames.ts'

type Draft = { text: string } | { form: RuleForm }

/** Parses a value as far as the tests need it; also the original form of 2013. */
export function readValue(text: string): { value: string; form: RuleForm; notes: string[] } {
  const line = /nrs_tbf_rule=["']?(.*?)["']?$/.exec(text)?.[1] ?? text
  const old = /^start (\w+) \{(.*)\} (\d+)$/.exec(line)
  const value = old ? `start ${old[1]} nid={${old[2]}} rate=${old[3]}` : line.trim()
  const m = /^(?:(reg|hp) )?(start|change|stop) (\S*) ?(.*)$/.exec(value)
  const tail = m?.[4] ?? ''
  const brace = tail.lastIndexOf('}')
  const pair = (key: string): string => new RegExp(`\\b${key}=(\\S*)`).exec(tail.slice(brace + 1))?.[1] ?? ''
  const form = ruleForm({
    verb: (m?.[2] ?? 'start') as RuleForm['verb'],
    name: m?.[3] ?? '',
    conditions: tail.slice(0, brace + 1),
    rate: pair('rate'),
    rank: pair('rank'),
    queue: (m?.[1] ?? 'both') as RuleForm['queue'],
  })
  return { value, form, notes: old ? ['Syntax of 2013: nid= and rate= were added.'] : [] }
}

export function answer(draft: Draft): RuleCheck {
  const read = 'text' in draft ? readValue(draft.text) : { value: valueOf(draft.form), form: draft.form, notes: [] }
  return ruleCheck(read.form, { text: read.value, faults: opcodeFault(read.value), notes: read.notes })
}

export interface SampleHost {
  /** Verbs with their arguments, in order; without checks and acknowledgements. */
  readonly calls: { verb: string; input: unknown }[]
  /** Queries of the stream of rules. */
  readonly queries: { readonly filter?: string }[]
  frame: RulesFrame | null
  staged: StagedFrame | null
  /** Answer of `rules.commit`; an error is thrown. */
  result: { changeId: string; nodes: PastChange['nodes'] } | Error
}

/** Opens a connection to a new host. */
export function openSampleHost(first: Partial<Pick<SampleHost, 'frame' | 'staged' | 'result'>> = {}): SampleHost {
  const host: SampleHost = {
    calls: [],
    queries: [],
    frame: null,
    staged: null,
    result: { changeId: 'c1', nodes: [] },
    ...first,
  }
  const note =
    <R>(verb: string, reply: () => R) =>
    async (input: unknown): Promise<R> => {
      host.calls.push({ verb, input })
      return reply()
    }
  async function once<F>(frame: F | null, signal: AbortSignal): Promise<AsyncIterable<F>> {
    return (async function* () {
      if (frame !== null) yield frame
      await new Promise<void>((resolve) => signal.addEventListener('abort', () => resolve()))
    })()
  }
  type Options = { signal: AbortSignal }
  const api = {
    host: { ack: async () => undefined },
    views: {
      rules: (query: { filter?: string }, { signal }: Options) => {
        host.queries.push(query)
        return once(host.frame, signal)
      },
      staged: (_: unknown, { signal }: Options) => once(host.staged, signal),
    },
    rules: {
      check: async ({ draft }: { draft: Draft }) => answer(draft),
      stage: note('stage', () => ({ id: 's2' })),
      unstage: note('unstage', () => undefined),
      restore: note('restore', () => undefined),
      undo: note('undo', () => undefined),
      commit: note('commit', () => {
        if (host.result instanceof Error) throw host.result
        return host.result
      }),
    },
  }
  useConnectionStore().opened({ api: api as unknown as Client })
  return host
}
