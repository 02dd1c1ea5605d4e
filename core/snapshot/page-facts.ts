/**
 * What the pages of a bundle say besides samples: README.html and report.md are written from this and the figures of the samples
 * alone. Everything in it is redacted already. When it was exported is not in it: two exports of the same are the same pages.
 */
import type { Incident } from './notebook.ts'
import type { Manifest } from './manifest.ts'

export interface PageFacts {
  /** The manifest as far as it is known before the members are hashed. */
  readonly manifest: Omit<Manifest, 'members' | 'content' | 'createdMs'>
  /** Notebook of the incident; null: samples only. */
  readonly incident: Incident | null
  /** [fromMs, toMs), Unix ms on the source's clock. */
  readonly span: { readonly fromMs: number; readonly toMs: number }
  /** Rules as text, at the beginning and at the end. */
  readonly rules: { readonly before: string; readonly after: string }
  /** Members that were written before the pages, by which they can be told; the pages cannot hold their own hash. */
  readonly sealed: readonly { readonly name: string; readonly bytes: number; readonly sha256: string }[]
}

/** What a page is headed by: the incident's title, or what it is of. */
export const titleOf = ({ manifest, incident }: PageFacts): string =>
  incident?.title ?? manifest.incident?.title ?? `Samples of ${manifest.source.cluster}`
