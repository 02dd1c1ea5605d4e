/** Explanations: footer of a notebook, and integrity of a bundle. */
import type { Meaning } from '../meaning.ts'

export const incidentsMeanings = [
  {
    id: 'incidents.integrity',
    title: 'Integrity',
    unit: 'SHA-256',
    means: 'Hash of the notebook. A bundle has one per file, so that changed files can be identified.',
    formula: 'sha256 over its canonical text',
    source: 'this console',
    caveat: 'Detects changes; it does not identify the author.',
  },
  {
    id: 'incidents.audit',
    title: 'Audit records',
    unit: 'numbers of records',
    means: 'Audit records shown in the transcripts of this notebook.',
    formula: 'each record contains the hash of the previous one',
    source: 'enforcement log of the data folder',
  },
  {
    id: 'incidents.bytes',
    title: 'Bundle',
    unit: 'bytes',
    means: 'Size of the ZIP file, and its SHA-256 for identification.',
    formula: 'sha256 over the file',
    source: 'this console',
  },
] as const satisfies readonly Meaning[]
