/** Puts text or a picture on the clipboard; where a browser takes no picture there, it is saved as a file instead. */
import { useShellStore } from '../stores/shell.ts'

export type Copied = 'copied' | 'saved' | 'refused'

export async function copyText(text: string): Promise<Copied> {
  try {
    await navigator.clipboard.writeText(text)
    return 'copied'
  } catch {
    // Without the right to write (an insecure address, no focus) the old way still works after a key.
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

const blobOf = (canvas: HTMLCanvasElement): Promise<Blob | null> =>
  new Promise((resolve) => canvas.toBlob(resolve, 'image/png'))

/** The desktop gives no page the clipboard and no download: there a person says where the picture goes. */
async function save(blob: Blob, name: string): Promise<Copied> {
  const { kind } = await useShellStore().save(name, blob)
  return kind === 'saved' || kind === 'downloaded' ? 'saved' : 'refused'
}

export async function copyPicture(canvas: HTMLCanvasElement, name: string): Promise<Copied> {
  const blob = await blobOf(canvas)
  if (blob === null) return 'refused'
  try {
    await navigator.clipboard.write([new ClipboardItem({ 'image/png': blob })])
    return 'copied'
  } catch {
    return save(blob, name)
  }
}
