/** The program of the thread that reads long texts of scenarios. */
import { parentPort } from 'node:worker_threads'
import type { ScenarioCheck } from '#core/api/sandbox.ts'
import { complete, type Completion } from './completion.ts'
import { checkScenario } from './scenarios-check.ts'

export interface ToReader {
  readonly number: number
  readonly what:
    | { readonly kind: 'check'; readonly text: string }
    | { readonly kind: 'complete'; readonly text: string; readonly line: number; readonly column: number }
}

export type FromReader =
  | { readonly kind: 'check'; readonly check: ScenarioCheck }
  | { readonly kind: 'complete'; readonly completion: Completion }

const read = (what: ToReader['what']): FromReader =>
  what.kind === 'check'
    ? { kind: 'check', check: checkScenario(what.text) }
    : { kind: 'complete', completion: complete(what.text, what.line, what.column) }

parentPort?.on('message', ({ number, what }: ToReader) => parentPort?.postMessage({ number, from: read(what) }))
