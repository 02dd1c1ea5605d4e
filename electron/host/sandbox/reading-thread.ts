/** Thread that parses long scenario texts. */
import { parentPort } from 'node:worker_threads'
import type { ScenarioCheck } from '#core/api/sandbox.ts'
import { complete, type Completion } from './completion.ts'
import { checkScenario, without } from './scenarios-check.ts'

export interface ToReader {
  readonly number: number
  readonly what:
    | { readonly kind: 'check'; readonly text: string }
    | { readonly kind: 'leave out'; readonly text: string; readonly jobIds: readonly string[] }
    | { readonly kind: 'complete'; readonly text: string; readonly line: number; readonly column: number }
}

export type FromReader =
  | { readonly kind: 'check'; readonly check: ScenarioCheck }
  | { readonly kind: 'left out'; readonly text: string; readonly check: ScenarioCheck }
  | { readonly kind: 'complete'; readonly completion: Completion }

function read(what: ToReader['what']): FromReader {
  if (what.kind === 'check') return { kind: 'check', check: checkScenario(what.text) }
  if (what.kind === 'leave out') return { kind: 'left out', ...without(what.text, what.jobIds) }
  return { kind: 'complete', completion: complete(what.text, what.line, what.column) }
}

parentPort?.on('message', ({ number, what }: ToReader) => parentPort?.postMessage({ number, from: read(what) }))
