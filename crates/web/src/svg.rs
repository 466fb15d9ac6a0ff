//! Drawings, made here: two kinds of bars. Their words stand beside them, as text.
//!
//! Everything is a class of the style sheet, since the page lets no element have a style of its
//! own.

use maud::{Markup, html};

const HEIGHT: f64 = 48.0;

/// A bar, from the bottom.
pub struct Bar {
    /// The share of the highest, from 0 to 1.
    pub share: f64,
    /// Its class in the style sheet.
    pub class: &'static str,
    /// What it says.
    pub title: String,
}

/// Bars of one width beside each other; `words` is what they show.
pub fn bars(bars: &[Bar], words: &str) -> Markup {
    let width = 10 * bars.len();
    html! {
        svg class="bars" viewBox={ "0 0 " (width) " " (HEIGHT) } preserveAspectRatio="none" role="img" aria-label=(words) {
            @for (place, bar) in bars.iter().enumerate() {
                @let height = height(bar.share);
                g {
                    title { (bar.title) }
                    rect class="back" x=(10 * place) y="0" width="9" height=(HEIGHT) {}
                    @if height > 0.0 {
                        rect class=(bar.class) x=(10 * place) y=(format!("{:.1}", HEIGHT - height))
                            width="9" height=(format!("{height:.1}")) {}
                    }
                }
            }
        }
    }
}

/// What is more than nothing can be seen.
fn height(share: f64) -> f64 {
    if share > 0.0 { (share.min(1.0) * HEIGHT).max(2.0) } else { 0.0 }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_little_is_seen_and_nothing_is_not() {
        let bar = |share| Bar { share, class: "good", title: "<&>".to_owned() };
        let svg = bars(&[bar(0.0), bar(1e-9), bar(1.0)], "a \"b\"").into_string();
        assert_eq!(svg.matches("class=\"good\"").count(), 2, "{svg}");
        assert!(svg.contains("height=\"2.0\"") && svg.contains("height=\"48.0\""), "{svg}");
        assert!(svg.contains("&lt;&amp;&gt;") && svg.contains("a &quot;b&quot;"), "{svg}");
        assert!(!svg.contains("style"), "{svg}");
    }
}
