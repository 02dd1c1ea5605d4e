/** What stands at the foot of a notebook, and what a bundle says of itself. */
import type { Meaning } from '../meaning.ts'

export const incidentsMeanings = [
  {
    id: 'incidents.integrity',
    title: 'Integrity',
    unit: 'SHA-256',
    means: 'Hash of the notebook as it stands. A bundle has one for each file, so that a changed byte is named.',
    formula: 'sha256 over its canonical text',
    source: 'this console',
    caveat: 'It shows that something was changed, not who wrote it.',
  },
  {
    id: 'incidents.audit',
    title: 'Audit records',
    unit: 'numbers of records',
    means: 'The records of the audit that the transcripts of this notebook show.',
    formula: 'each record carries the hash of the one before',
    source: 'enforcement log of the data folder',
  },
  {
    id: 'incidents.bytes',
    title: 'Bundle',
    unit: 'bytes',
    means: 'Size of the zip, and the SHA-256 by which it can be told apart.',
    formula: 'sha256 over the file',
    source: 'this console',
  },
] as const satisfies readonly Meaning[]
