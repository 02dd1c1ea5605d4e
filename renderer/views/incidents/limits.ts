/** Maximum text lengths that the host accepts (core/snapshot/notebook.ts). */
import { TEXT_MOST, TITLE_MOST } from '#core/snapshot/notebook.ts'

export const NOTE_CHARS_MOST = TEXT_MOST
export const TITLE_CHARS_MOST = TITLE_MOST
