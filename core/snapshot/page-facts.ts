/**
 * Contents of a bundle's pages besides samples: README.html and report.md are written from this and the sample values alone.
 * All of it is redacted already. The export time is excluded: two exports of the same data give the same pages.
 */
import type { Incident } from './notebook.ts'
import type { Manifest } from './manifest.ts'

export interface PageFacts {
  /** Manifest before the members are hashed. */
  readonly manifest: Omit<Manifest, 'members' | 'content' | 'createdMs'>
  /** Notebook of the incident; null: samples only. */
  readonly incident: Incident | null
  /** [fromMs, toMs), Unix ms on the source's clock. */
  readonly span: { readonly fromMs: number; readonly toMs: number }
  /** Rules as text, at the beginning and at the end. */
  readonly rules: { readonly before: string; readonly after: string }
  /** Members written before the pages, with their hashes; the pages cannot contain their own hash. */
  readonly sealed: readonly { readonly name: string; readonly bytes: number; readonly sha256: string }[]
}

/** Title of a page: the incident's title, or its source. */
export const titleOf = ({ manifest, incident }: PageFacts): string =>
  incident?.title ?? manifest.incident?.title ?? `Samples of ${manifest.source.cluster}`
