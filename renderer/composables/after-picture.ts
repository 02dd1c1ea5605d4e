/**
 * Calls `act` once the next picture is on the screen, with the one after it: what is costly and not what a hand waits for. A
 * hidden page has no pictures.
 *
 * @returns what calls it off.
 */
export function afterPicture(act: () => void): () => void {
  if (document.visibilityState === 'hidden') {
    const timer = setTimeout(act)
    return () => clearTimeout(timer)
  }
  let frame = requestAnimationFrame(() => {
    frame = requestAnimationFrame(act)
  })
  return () => cancelAnimationFrame(frame)
}
