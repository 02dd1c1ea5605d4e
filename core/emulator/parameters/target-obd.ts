/** `lov.*.target_obd`: the OSTs of a file system, as seen by a connected node. */
import type { Parameter } from '../parameter.ts'
import { file, text } from './file.ts'

/** The file of one `lov` device; all OSTs are active. */
export const targetObdParameter = (lov: string, osts: readonly string[]): Parameter =>
  file(
    'proc',
    ['lov', lov, 'target_obd'],
    text(() => osts.map((ost, i) => `${i}: ${ost}_UUID ACTIVE\n`).join('')),
  )
