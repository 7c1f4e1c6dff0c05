// The pictures of the guides: Mermaid, as GitHub draws it, becomes SVG in the page at the build, without a browser.
import { renderMermaidSVG } from 'beautiful-mermaid';

/** Letters of 11 to 13 pixels become larger where there is room, and on a narrow screen not much smaller. */
const [scale, leastWidth] = [1.2, 560];

/** The Markdown with a figure in the place of each block of Mermaid. */
export function withPictures(markdown) {
  return markdown.replaceAll(/^```mermaid\n(.*?)^```$/gms, (_block, source) => figureOf(source));
}

function figureOf(source) {
  const [title, description] = ['accTitle', 'accDescr'].map((name) => textOf(source, name));
  const svg = renderMermaidSVG(source.replaceAll(/^ *acc\w+:.*\n/gm, ''))
    // Its colours and letters are those of the theme, and its own style would load letters from elsewhere.
    .replace(/<style>.*?<\/style>/s, '')
    .replace(/<svg [^>]*viewBox="([^"]+)"[^>]*>/, (_tag, viewBox) => {
      const width = Math.round(Number(viewBox.split(' ')[2]) * scale);
      const style = `max-width: ${width}px; min-width: ${Math.min(width, leastWidth)}px`;
      return `<svg viewBox="${viewBox}" style="${style}" role="img"><title>${title}</title><desc>${description}</desc>`;
    })
    // An empty line would end the HTML in the Markdown.
    .replaceAll(/\n\s*/g, '');
  return `<figure class="picture" tabindex="0" v-pre>${svg}<figcaption>${description}</figcaption></figure>`;
}

function textOf(source, name) {
  const text = new RegExp(`^ *${name}: (.*)$`, 'm').exec(source)?.[1];
  if (text === undefined) throw new Error(`A picture has no ${name}, the words for who doesn't see it:\n${source}`);
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;');
}
