/** Files of an emulated ccPFS: the lock resource and server of each stripe, and the workloads that use the file. */
import type { FileLayout } from '../seqdlm/layout.ts'
import type { ResourceId } from '../seqdlm/messages.ts'
import {
  processesOf,
  type CcpfsFile,
  type CcpfsPattern,
  type CcpfsScenario,
  type CcpfsWorkload,
} from './scenario-ccpfs.ts'

export interface EmulatedFile {
  readonly scenario: CcpfsFile
  readonly layout: FileLayout
  /** `16 writers, N-1 strided; 2 readers`. */
  readonly about: string
}

export class CcpfsFiles {
  readonly all: readonly EmulatedFile[]
  readonly #servers: readonly string[]
  readonly #byResource: readonly EmulatedFile[]
  readonly #byName: ReadonlyMap<string, EmulatedFile>

  constructor({ files, servers, workloads }: CcpfsScenario) {
    let base = 0
    this.all = files.map((scenario) => {
      const { name, stripes, stripe_kib } = scenario
      const layout = { base, stripes, stripeSize: stripe_kib * 1024 }
      base += stripes
      return { scenario, layout, about: about(workloads.filter((w) => w.file === name)) }
    })
    this.#servers = servers
    this.#byResource = this.all.flatMap((f) => Array.from({ length: f.layout.stripes }, () => f))
    this.#byName = new Map(this.all.map((f) => [f.scenario.name, f]))
  }

  /** Number of resources; their ids are 0 to this number less 1. */
  get resources(): number {
    return this.#byResource.length
  }

  named(name: string): EmulatedFile | undefined {
    return this.#byName.get(name)
  }

  describe(resource: ResourceId): { name: string; server: string; about: string } | undefined {
    const file = this.#byResource[resource]
    if (file === undefined) return undefined
    const { scenario, layout, about } = file
    const server = this.#servers[resource % this.#servers.length] as string
    return { name: `${scenario.name} / ${resource - layout.base}`, server, about }
  }

  /** Resource of a label made by `describe`. A file name has no `/`, so labels are unique. */
  find(name: string): ResourceId | undefined {
    const at = name.lastIndexOf(' / ')
    const stripe = name.slice(at + 3)
    const layout = at < 0 || !/^\d{1,4}$/.test(stripe) ? undefined : this.named(name.slice(0, at))?.layout
    if (layout === undefined || Number(stripe) >= layout.stripes || String(Number(stripe)) !== stripe) return undefined
    return layout.base + Number(stripe)
  }
}

const PATTERN_LABELS: Readonly<Record<CcpfsPattern, string>> = {
  strided: 'N-1 strided',
  segmented: 'N-1 segmented',
  append: 'shared log',
  random: 'random offsets',
  spanning: 'across stripes',
  read: '',
}

function about(workloads: readonly CcpfsWorkload[]): string {
  const readersOf = (w: CcpfsWorkload): number => (w.pattern === 'read' ? processesOf(w) : w.readers)
  const count = (n: number, what: string): string => `${n} ${what}${n === 1 ? '' : 's'}`
  const writes = workloads
    .map((w) => ({ writers: processesOf(w) - readersOf(w), pattern: PATTERN_LABELS[w.pattern] }))
    .filter(({ writers }) => writers > 0)
    .map(({ writers, pattern }) => `${count(writers, 'writer')}, ${pattern}`)
  const readers = workloads.reduce((sum, w) => sum + readersOf(w), 0)
  if (readers > 0) writes.push(count(readers, 'reader'))
  return writes.length > 0 ? writes.join('; ') : 'not in use'
}
