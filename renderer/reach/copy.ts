/** Copies text or an image to the clipboard; if the browser does not accept an image there, saves it as a file. */
import { useShellStore } from '../stores/shell.ts'

export type Copied = 'copied' | 'saved' | 'refused'

export async function copyText(text: string): Promise<Copied> {
  try {
    await navigator.clipboard.writeText(text)
    return 'copied'
  } catch {
    // Without clipboard permission (an insecure address, no focus) the legacy command still works after a key press.
    const area = document.createElement('textarea')
    const before = document.activeElement
    area.value = text
    area.style.position = 'fixed'
    area.style.opacity = '0'
    document.body.append(area)
    area.select()
    const isDone = document.execCommand('copy')
    area.remove()
    if (before instanceof HTMLElement) before.focus({ preventScroll: true })
    return isDone ? 'copied' : 'refused'
  }
}

export const pngOf = (canvas: HTMLCanvasElement): Promise<Blob | null> =>
  new Promise((resolve) => canvas.toBlob(resolve, 'image/png'))

/** In the desktop shell a page has no clipboard or download access: the operator chooses a file. */
export async function saveBlob(blob: Blob, name: string): Promise<Copied> {
  const { kind } = await useShellStore().save(name, blob)
  return kind === 'saved' || kind === 'downloaded' ? 'saved' : 'refused'
}

export async function copyPicture(canvas: HTMLCanvasElement, name: string): Promise<Copied> {
  const blob = await pngOf(canvas)
  if (blob === null) return 'refused'
  try {
    await navigator.clipboard.write([new ClipboardItem({ 'image/png': blob })])
    return 'copied'
  } catch {
    return saveBlob(blob, name)
  }
}
