/** Download of a text as a file. The name is from the host; characters that could leave the folder are replaced. */
import { saveFile } from '../../stores/shell.ts'

const types = { csv: 'text/csv', json: 'application/json', md: 'text/markdown' } as const

/** Reduces a name to at most 120 letters, digits, dots, dashes and underscores. */
export const safeFileName = (name: string): string =>
  name
    .replace(/[^\p{L}\p{N}._-]+/gu, '-')
    .replace(/^[.-]+/, '')
    .slice(0, 120) || 'comparison'

export function download(name: string, text: string, format: keyof typeof types): void {
  saveFile(safeFileName(name), new Blob([text], { type: `${types[format]};charset=utf-8` }))
}
