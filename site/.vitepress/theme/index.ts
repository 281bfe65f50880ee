/** VitePress's theme with the fonts of the system, which need no download. */
export { default } from 'vitepress/theme-without-fonts'
import './style.css'
