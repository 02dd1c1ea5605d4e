/** Gives a text to the operator as a file. The name is the host's; what could leave the folder is taken out of it. */
import { saveFile } from '../../stores/shell.ts'

const types = { csv: 'text/csv', json: 'application/json', md: 'text/markdown' } as const

/** Letters, digits, dot, dash and underscore; at most 120 of them. */
export const safeFileName = (name: string): string =>
  name
    .replace(/[^\p{L}\p{N}._-]+/gu, '-')
    .replace(/^[.-]+/, '')
    .slice(0, 120) || 'comparison'

export function download(name: string, text: string, format: keyof typeof types): void {
  saveFile(safeFileName(name), new Blob([text], { type: `${types[format]};charset=utf-8` }))
}
